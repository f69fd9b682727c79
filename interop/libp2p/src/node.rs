//! A Waku node's swarm: gossipsub as 11/WAKU2-RELAY wants it, and streams for request and response.

use std::time::Duration;

use anyhow::{Context, Result};
use borrowire::codec::Protocol;
use borrowire::message_path::workload::PUBSUB_TOPIC;
use borrowire::waku::{GossipId, gossip_id};
use futures::StreamExt;
use libp2p::gossipsub::{
    self, ConfigBuilder, IdentTopic, Message, MessageAuthenticity, MessageId, ValidationMode,
};
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{Multiaddr, Swarm, SwarmBuilder, noise, tcp, yamux};

#[derive(NetworkBehaviour)]
pub struct Behaviour {
    pub gossipsub: gossipsub::Behaviour,
    pub streams: libp2p_stream::Behaviour,
}

/// A node over TCP, noise and yamux. Listens nowhere yet.
pub fn swarm() -> Result<Swarm<Behaviour>> {
    let swarm = SwarmBuilder::with_new_identity()
        .with_tokio()
        .with_tcp(tcp::Config::default().nodelay(true), noise::Config::new, yamux::Config::default)?
        .with_behaviour(|_| Ok(Behaviour { gossipsub: relay()?, streams: Default::default() }))?
        .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(60)))
        .build();
    Ok(swarm)
}

/// Gossipsub with the settings of a Waku relay.
fn relay() -> Result<gossipsub::Behaviour, Box<dyn std::error::Error + Send + Sync>> {
    let config = ConfigBuilder::default()
        // SHA-256 of the data. libp2p hands the id out with the message, so it need not be
        // computed again.
        .message_id_fn(|message: &Message| MessageId::new(&gossip_id(&message.data).0))
        // StrictNoSign: neither author nor sequence number nor signature.
        .validation_mode(ValidationMode::Anonymous)
        // A message is passed on when the validator says so.
        .validate_messages()
        // 150 KiB is for the whole RPC and says nothing of what was read with it: libp2p-gossipsub
        // 0.50 holds the limit against its read buffer, in which up to 8 KiB of the next RPC lie.
        .max_transmit_size((Protocol::RELAY.max_request + OVERHEAD) as usize)
        .history_length(6)
        .heartbeat_initial_delay(Duration::from_millis(100))
        .build()?;
    Ok(gossipsub::Behaviour::new(MessageAuthenticity::Anonymous, config)?)
}

/// The id that libp2p handed out with a message, which [`relay`]'s function computed.
pub fn known_id(id: &MessageId) -> Result<GossipId> {
    let id = id.0.as_slice().try_into().context("a message id that is no SHA-256")?;
    Ok(GossipId(id))
}

pub fn topic() -> IdentTopic {
    IdentTopic::new(PUBSUB_TOPIC)
}

/// Listens on a free port of the loopback interface and says where.
pub async fn listen(swarm: &mut Swarm<Behaviour>) -> Result<Multiaddr> {
    swarm.listen_on("/ip4/127.0.0.1/tcp/0".parse()?)?;
    loop {
        if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
            return Ok(address);
        }
    }
}

/// Lets the node work until `is_done` holds, for ten seconds at most; its events are dropped.
pub async fn work_until(
    swarm: &mut Swarm<Behaviour>,
    what: &'static str,
    is_done: impl Fn(&Swarm<Behaviour>) -> bool,
) -> Result<()> {
    for _ in 0..1000 {
        if is_done(swarm) {
            return Ok(());
        }
        work_for(swarm, Duration::from_millis(10)).await;
    }
    anyhow::bail!("waited in vain for {what}")
}

/// Lets the node work for a while; its events are dropped.
pub async fn work_for(swarm: &mut Swarm<Behaviour>, time: Duration) {
    let work = async {
        loop {
            swarm.select_next_some().await;
        }
    };
    let _ = tokio::time::timeout(time, work).await;
}

pub fn has_mesh(swarm: &Swarm<Behaviour>) -> bool {
    swarm.behaviour().gossipsub.mesh_peers(&topic().hash()).next().is_some()
}

/// nwaku's `DefaultSafetyBufferProtocolOverhead`.
const OVERHEAD: u32 = 64 * 1024;
