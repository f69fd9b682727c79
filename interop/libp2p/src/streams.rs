//! Request and response over libp2p streams: a stream for each request, both frames behind their
//! length.

use anyhow::{Context, Result};
use borrowire::codec::{FrameReader, FrameWriter, LengthPrefixed, Protocol};
use bytes::{Buf, Bytes};
use futures::StreamExt;
use futures::io::AsyncReadExt;
use libp2p::{PeerId, Stream, StreamProtocol};
use libp2p_stream::{Control, IncomingStreams};

/// Asks a peer and returns its response, a share of the buffer that it was read into.
pub async fn ask(
    control: &mut Control,
    peer: PeerId,
    protocol: Protocol,
    request: impl Buf + Clone,
) -> Result<Bytes> {
    let stream = control.open_stream(peer, StreamProtocol::new(protocol.id)).await?;
    let (read, write) = stream.split();
    let mut writer = FrameWriter::new(write, LengthPrefixed::new(protocol.max_request));
    writer.write(request).await?;
    writer.close().await?;
    let mut reader = FrameReader::new(read, LengthPrefixed::new(protocol.max_response));
    reader.next().await?.context("the stream ended without a response")
}

/// What answers requests.
pub trait Service: Clone + Send + Sync + 'static {
    type Response: Buf + Clone + Send;

    fn answer(&self, request: Bytes) -> impl Future<Output = Self::Response> + Send;
}

/// Answers the request of each stream.
pub async fn serve(mut incoming: IncomingStreams, protocol: Protocol, service: impl Service) {
    while let Some((_peer, stream)) = incoming.next().await {
        let service = service.clone();
        tokio::spawn(async move {
            // Dropping the stream resets it, which is all the answer that a bad prefix gets.
            if let Err(error) = answer(stream, protocol, service).await {
                println!("{}: refused a request: {error}", protocol.id);
            }
        });
    }
}

async fn answer(stream: Stream, protocol: Protocol, service: impl Service) -> Result<()> {
    let (read, write) = stream.split();
    let mut reader = FrameReader::new(read, LengthPrefixed::new(protocol.max_request));
    let Some(request) = reader.next().await? else { return Ok(()) };
    let response = service.answer(request).await;
    let mut writer = FrameWriter::new(write, LengthPrefixed::new(protocol.max_response));
    writer.write(response).await?;
    Ok(writer.close().await?)
}
