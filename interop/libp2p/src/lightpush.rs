//! Lightpush over libp2p streams: a light node asks a relay node to publish, and another relay node
//! receives what was published.
//!
//! ```text
//! light node --stream--> relay node --gossip--> relay node
//! ```

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use borrowire::codec::Protocol;
use borrowire::message_path::workload::{PUBSUB_TOPIC, Workload};
use borrowire::waku::lightpush::{self, RequestView, ResponseBuilder, ResponseView, StatusCode};
use borrowire::waku::{MessageBuilder, MessageView, gossip_id};
use borrowire::{Envelope, counters};
use bytes::{Buf, Bytes};
use futures::StreamExt;
use futures::io::{AsyncReadExt, AsyncWriteExt};
use libp2p::gossipsub::{Event, MessageAcceptance};
use libp2p::swarm::SwarmEvent;
use libp2p::{PeerId, StreamProtocol, Swarm};
use libp2p_stream::Control;
use tokio::sync::{mpsc, oneshot};

use crate::node::{
    Behaviour, BehaviourEvent, has_mesh, known_id, listen, swarm, topic, work_until,
};

use crate::streams::{Service, ask, serve};

/// Pushes `count` messages and some that are bad, and checks what comes back and what arrives.
pub fn run(count: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run_nodes(count))
}

async fn run_nodes(count: usize) -> Result<()> {
    let (mut relay, mut other, mut light) = (swarm()?, swarm()?, swarm()?);
    for node in [&mut relay, &mut other] {
        node.behaviour_mut().gossipsub.subscribe(&topic())?;
    }
    let relay_id = *relay.local_peer_id();
    let address = listen(&mut relay).await?;
    for node in [&mut other, &mut light] {
        node.dial(address.clone())?;
    }

    let incoming = relay.behaviour().streams.new_control().accept(PROTOCOL)?;
    let light_control = light.behaviour().streams.new_control();
    let (publish, to_publish) = mpsc::channel(1);
    let (arrived, mut arrivals) = mpsc::channel(16);
    tokio::spawn(serve(incoming, Protocol::LIGHTPUSH, Lightpush(publish)));
    tokio::try_join!(
        work_until(&mut relay, "the relay's mesh", has_mesh),
        work_until(&mut other, "the other's mesh", has_mesh),
        work_until(&mut light, "the relay", |light| light.is_connected(&relay_id)),
    )?;
    tokio::spawn(async move { while let Some(_event) = light.next().await {} });
    tokio::spawn(relay_messages(relay, to_publish));
    tokio::spawn(receive_messages(other, arrived));

    let time = Duration::from_secs(60);
    tokio::time::timeout(time, push_all(count, light_control, relay_id, &mut arrivals)).await?
}

/// The light node.
async fn push_all(
    count: usize,
    mut control: Control,
    relay: PeerId,
    arrivals: &mut mpsc::Receiver<Envelope>,
) -> Result<()> {
    let workload = Workload::new(count.max(4), 42, 1 << 32);
    for i in 0..workload.len() {
        let message = MessageView::parse(workload.frame(i))?;
        let id = format!("push {i}");
        let request = lightpush::request(&id, Some(PUBSUB_TOPIC), &message);
        ensure!(request.body().as_ptr() == message.raw().as_ptr(), "the message was copied");
        let before = counters::thread();
        let response = push(&mut control, relay, request).await?;
        ensure!(response.status_code() == StatusCode::SUCCESS, "{response}");
        ensure!(response.request_id() == Some(&id), "the answer to another request: {response}");
        ensure!(response.relay_peer_count() == Some(1), "{response:?}");
        let envelope = arrivals.recv().await.context("the other relay has stopped")?;
        ensure!(envelope.message().raw() == message.raw(), "another message arrived");
        ensure!(*envelope.gossip_id() == gossip_id(message.raw()), "with another gossip id");
        let copies = (counters::thread() - before).copies;
        ensure!(copies == 0, "borrowire copied {copies} times");
    }

    let no_topic = Bytes::from_static(b"\x0a\x07bad one\xaa\x01\x03\x0a\x01\x01");
    let response = push(&mut control, relay, no_topic).await?;
    ensure!(response.status_code() == StatusCode::INVALID_MESSAGE, "{response}");
    ensure!(response.request_id() == Some("bad one"), "{response}");
    ensure!(
        response.status_desc() == Some("waku.content_topic: missing, at byte 15"),
        "{response:?}"
    );

    let empty = MessageBuilder::new("/a/1/b/proto", b"").build()?;
    let request = lightpush::request("empty", Some(PUBSUB_TOPIC), &empty);
    let response = push(&mut control, relay, request).await?;
    ensure!(response.status_code() == StatusCode::INVALID_MESSAGE, "{response}");

    let not_protobuf = push(&mut control, relay, &b"\xff"[..]).await?;
    ensure!(not_protobuf.status_code() == StatusCode::BAD_REQUEST, "{not_protobuf}");
    ensure!(not_protobuf.request_id() == Some("N/A"), "{not_protobuf}");

    // Prefixes that are refused before a byte of the request is there: the relay resets the stream.
    for prefix in [&b"\xff\xff\xff\x7f"[..], &[0x80; 11], b"\x82\x00ab"] {
        let mut stream = control.open_stream(relay, PROTOCOL).await?;
        stream.write_all(prefix).await?;
        stream.flush().await?;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer).await;
        ensure!(read.is_err() || answer.is_empty(), "an answer to {prefix:?}");
    }
    println!(
        "lightpush: {} messages pushed, relayed and received; 6 bad requests answered or cut off",
        workload.len()
    );
    Ok(())
}

async fn push(
    control: &mut Control,
    relay: PeerId,
    request: impl Buf + Clone,
) -> Result<ResponseView> {
    Ok(ResponseView::parse(ask(control, relay, Protocol::LIGHTPUSH, request).await?)?)
}

/// The relay node's service.
#[derive(Clone)]
struct Lightpush(mpsc::Sender<Publish>);

impl Service for Lightpush {
    type Response = Bytes;

    async fn answer(&self, request: Bytes) -> Bytes {
        let request = RequestView::parse(request);
        let (id, outcome) = match &request {
            Ok(request) => (request.request_id().unwrap_or_default(), self.relay(request).await),
            Err(error) => ("N/A", Err((StatusCode::BAD_REQUEST, error.to_string()))),
        };
        let response = match &outcome {
            Ok(peers) => ResponseBuilder::success(id, *peers),
            Err((status, why)) => ResponseBuilder::failure(id, *status, why),
        };
        response.to_vec().into()
    }
}

impl Lightpush {
    /// Validates the message of a request and has it published; says to how many peers.
    async fn relay(&self, request: &RequestView) -> Result<u32, (StatusCode, String)> {
        let invalid = |why: String| (StatusCode::INVALID_MESSAGE, why);
        let message = request.message().map_err(|error| invalid(error.to_string()))?;
        if message.payload().is_empty() {
            return Err(invalid("the payload is empty".to_owned()));
        }
        if request.pubsub_topic() != Some(PUBSUB_TOPIC) {
            return Err((StatusCode::UNSUPPORTED_PUBSUB_TOPIC, "one topic only".to_owned()));
        }
        let stopped = || (StatusCode::INTERNAL_SERVER_ERROR, "the relay has stopped".to_owned());
        let (reply, peers) = oneshot::channel();
        self.0.send(Publish { message, reply }).await.map_err(|_| stopped())?;
        match peers.await.map_err(|_| stopped())? {
            0 => Err((StatusCode::NO_PEERS_TO_RELAY, "no peers".to_owned())),
            peers => Ok(peers),
        }
    }
}

/// A message for the relay to publish, and where to say how many peers it has.
struct Publish {
    message: MessageView,
    reply: oneshot::Sender<u32>,
}

/// The relay node's swarm.
async fn relay_messages(mut swarm: Swarm<Behaviour>, mut to_publish: mpsc::Receiver<Publish>) {
    loop {
        tokio::select! {
            _ = swarm.select_next_some() => {}
            Some(Publish { message, reply }) = to_publish.recv() => {
                let gossipsub = &mut swarm.behaviour_mut().gossipsub;
                // libp2p takes a `Vec`: here a message is copied, and by libp2p's wish alone.
                let peers = match gossipsub.publish(topic(), message.raw()) {
                    Ok(_) => gossipsub.mesh_peers(&topic().hash()).count() as u32,
                    Err(_) => 0,
                };
                let _ = reply.send(peers);
            }
        }
    }
}

/// The other relay node: validates, passes on, hands to its application.
async fn receive_messages(
    mut swarm: Swarm<Behaviour>,
    application: mpsc::Sender<Envelope>,
) -> Result<()> {
    loop {
        let event = swarm.select_next_some().await;
        let SwarmEvent::Behaviour(BehaviourEvent::Gossipsub(Event::Message {
            propagation_source,
            message_id,
            message,
        })) = event
        else {
            continue;
        };
        let id = known_id(&message_id)?;
        let parsed = MessageView::parse(Bytes::from(message.data));
        let verdict = match &parsed {
            Ok(_) => MessageAcceptance::Accept,
            Err(_) => MessageAcceptance::Reject,
        };
        swarm.behaviour_mut().gossipsub.report_message_validation_result(
            &message_id,
            &propagation_source,
            verdict,
        );
        let Ok(view) = parsed else { continue };
        let envelope = Envelope::new(PUBSUB_TOPIC, view).with_gossip_id(id);
        if application.send(envelope).await.is_err() {
            bail!("the application has stopped");
        }
    }
}

const PROTOCOL: StreamProtocol = StreamProtocol::new(Protocol::LIGHTPUSH.id);
