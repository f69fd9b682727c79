//! What is done to the relay.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// A client that waits for nothing longer than [`PATIENCE`].
pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Client {
    pub async fn connect(url: &str) -> Result<Self> {
        let (socket, _) = timeout(PATIENCE, tokio_tungstenite::connect_async(url)).await??;
        Ok(Self { socket })
    }

    pub async fn send(&mut self, frame: impl Into<String>) -> Result<()> {
        let message = Message::Text(frame.into().into());
        Ok(timeout(PATIENCE, self.socket.send(message)).await??)
    }

    /// The next frame.
    pub async fn receive(&mut self) -> Result<String> {
        match timeout(PATIENCE, self.socket.next()).await?.context("the relay is gone")?? {
            Message::Text(frame) => Ok(frame.to_string()),
            other => bail!("{other:?} instead of text"),
        }
    }

    /// Reads until the connection ends, which it must; how many events came.
    pub async fn drain(&mut self) -> usize {
        let mut events = 0;
        while let Ok(frame) = self.receive().await {
            events += usize::from(frame.starts_with(r#"["EVENT""#));
        }
        events
    }
}

/// Sends `count` of `frames`, each of which must be answered, and none with a yes.
pub async fn malformed(url: &str, frames: &[String], count: usize) -> Result<usize> {
    let mut client = Client::connect(url).await?;
    for frame in frames.iter().cycle().take(count) {
        client.send(frame.as_str()).await?;
        let answer = client.receive().await.with_context(|| format!("after {frame:.200}"))?;
        let is_no = ["[\"NOTICE\"", "[\"CLOSED\""].iter().any(|no| answer.starts_with(no))
            || answer.starts_with("[\"OK\"") && answer.contains(",false,");
        ensure!(is_no, "{frame:.200} was answered with {answer}");
    }
    Ok(count)
}

/// Sends `count` frames over the limit, each of which must end its connection.
pub async fn too_long(url: &str, count: usize) -> Result<()> {
    let frame = format!(r#"["NOTICE","{}"]"#, "x".repeat(1_000_000));
    for i in 0..count {
        let mut client = Client::connect(url).await?;
        if i % 2 == 0 {
            // The relay may hang up before it has all been sent.
            let _ = client.send(frame.as_str()).await;
        } else {
            // A header alone, which announces an exbibyte. A client's frames are masked.
            let header = [&[0x81, 0xff][..], &(1_u64 << 60).to_be_bytes(), &[1; 4]].concat();
            let MaybeTlsStream::Plain(socket) = client.socket.get_mut() else { bail!("TLS") };
            socket.write_all(&header).await?;
        }
        if let Ok(answer) = client.receive().await {
            bail!("a frame over the limit was answered with {answer}");
        }
    }
    Ok(())
}

/// Opens `count` connections that never become WebSockets.
pub async fn half_open(url: &str, count: usize) -> Result<()> {
    let address = url.strip_prefix("ws://").context("not a ws:// address")?;
    for i in 0..count {
        let mut socket = TcpStream::connect(address).await?;
        if i % 2 == 0 {
            socket.write_all(b"GET / HTTP/1.1\r\nupgrade: ").await?;
        } else {
            socket.write_all(&[0xff; 512]).await?;
            let mut answer = Vec::new();
            // An answer in HTTP, or none at all, but an end.
            let _ = timeout(PATIENCE, socket.read_to_end(&mut answer)).await?;
        }
    }
    Ok(())
}

/// Frames that no relay may accept: an event's frame cut at every step, and one for each way to be
/// wrong. All under the example's limit.
pub fn bad_frames() -> Vec<String> {
    let event =
        include_str!("../../../fixtures/nostr/feed.ndjson").lines().next().unwrap_or_default();
    let whole = format!(r#"["EVENT",{event}]"#);
    let cut =
        (0..whole.len()).filter(|at| whole.is_char_boundary(*at)).map(|at| whole[..at].to_owned());
    let zero = "0".repeat(64);
    let others = [
        "[".repeat(100_000),
        format!("[{}]", "{\"a\":".repeat(20_000)),
        format!(r#"["{}"]"#, "x".repeat(100_000)),
        format!(r#"["EVENT",{}]"#, "9".repeat(100_000)),
        format!(r#"["REQ","s"{}]"#, ",{}".repeat(10_000) + ",[]"),
        format!(r#"["REQ","s",{{"ids":[{}]}}]"#, "\"\",".repeat(20_000)),
        r#"["EVENT",null]"#.into(),
        r#"["EVENT",{}]"#.into(),
        r#"["EVENT"]"#.into(),
        r#"["REQ"]"#.into(),
        r#"["REQ",7,{}]"#.into(),
        r#"["REQ","s",{"kinds":[-1]}]"#.into(),
        r#"["REQ","s",{"since":1.5}]"#.into(),
        r#"["REQ","s",{"ids":["zz"]}]"#.into(),
        r#"["COUNT","s",{"authors":"all"}]"#.into(),
        r#"["CLOSE"]"#.into(),
        r#"["CLOSE",{}]"#.into(),
        r#"["NEG-MSG","s","0"]"#.into(),
        r#"["AUTH","\ud800"]"#.into(),
        r#"["BOGUS",1,2,3]"#.into(),
        "{}".into(),
        "null".into(),
        "\u{feff}[]".into(),
        "\0".into(),
        format!("{whole}{whole}"),
        whole.replacen(r#""id":"#, r#""Id":"#, 1),
        whole.replacen(r#""kind":"#, r#""kind":1"#, 1),
        whole.replacen(r#""content":""#, r#""content":" "#, 1),
        whole.replacen(r#""id":""#, &format!(r#""id":"{zero}","id":""#), 1),
    ];
    cut.chain(others).collect()
}

/// How long a relay under a flood may take for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
