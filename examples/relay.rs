//! A Nostr relay in memory: `cargo run --release --example relay -- 127.0.0.1:7777`.
//!
//! What a relay does for every event: peek at the id, dedupe, parse, check, store, match, fan out.
//! Signatures are not checked here; `EventView` and the feature `verify` do it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borrowire::json::JsonStr;
use borrowire::nostr::event::{EventView, peek_event_id};
use borrowire::nostr::fanout::EventFanout;
use borrowire::nostr::filter::{CompiledFilter, FilterSet, FilterView, Visited};
use borrowire::nostr::frame::{RawFilter, RawFilters};
use borrowire::nostr::{ClientFrame, ClientMessage, relay};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// Bytes of a frame, events kept, events of one answer, live events that may wait for a client, its
/// subscriptions, and how long it may leave a frame unread.
const MAX_FRAME: usize = 128 << 10;
const MAX_EVENTS: usize = 10_000;
const MAX_ANSWER: usize = 500;
const MAX_QUEUE: usize = 256;
const MAX_SUBS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Relay {
    /// The newest last, each a share of the frame that it came in, cut down to itself.
    events: VecDeque<EventView>,
    ids: HashSet<[u8; 32]>,
    subs: FilterSet<(u64, String)>,
    clients: HashMap<u64, Client>,
    visited: Visited,
    next_client: u64,
}

struct Client {
    live: mpsc::Sender<Bytes>,
    task: Option<AbortHandle>,
    subs: HashSet<String>,
}

/// What a frame is answered with: stored events for a subscription, then one frame.
#[derive(Default)]
struct Answer {
    stored: Vec<EventView>,
    sub: String,
    frame: Vec<u8>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7777".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("ws://{}", listener.local_addr()?);
    let relay = Arc::new(Mutex::new(Relay::default()));
    loop {
        let (socket, _) = listener.accept().await?;
        let (live, queue) = mpsc::channel(MAX_QUEUE);
        let id = with(&relay, |relay| relay.join(live));
        let guest = Guest { relay: Arc::clone(&relay), id };
        let task = tokio::spawn(async move {
            // Whatever ends a connection, the others go on.
            let _ = serve(&guest, socket, queue).await;
        });
        with(&relay, |relay| {
            if let Some(client) = relay.clients.get_mut(&id) {
                client.task = Some(task.abort_handle());
            }
        });
    }
}

async fn serve(
    guest: &Guest,
    socket: TcpStream,
    mut queue: mpsc::Receiver<Bytes>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME))
        .max_write_buffer_size(4 * MAX_FRAME);
    let mut socket = tokio_tungstenite::accept_async_with_config(socket, Some(limits)).await?;
    loop {
        tokio::select! {
            Some(frame) = queue.recv() => timeout(PATIENCE, socket.send(text(frame)?)).await??,
            message = socket.next() => {
                let Message::Text(frame) = message.ok_or("gone")?? else { continue };
                let Answer { stored, sub, frame } =
                    with(&guest.relay, |relay| relay.answer(guest.id, frame.into()));
                for event in stored {
                    let frame = EventFanout::new(&event).to_bytes(&sub);
                    timeout(PATIENCE, socket.send(text(frame)?)).await??;
                }
                if !frame.is_empty() {
                    timeout(PATIENCE, socket.send(text(frame.into())?)).await??;
                }
            }
        }
    }
}

impl Relay {
    fn answer(&mut self, client: u64, frame: Bytes) -> Answer {
        let mut answer = Answer::default();
        let out = &mut answer.frame;
        // Most duplicates are told by their id alone.
        let peeked = peek_event_id(&frame);
        if let Some(id) = peeked.filter(|id| self.ids.contains(id)) {
            reply(&id, true, "duplicate: have this event", out);
            return answer;
        }
        let view = match ClientFrame::parse(frame) {
            Ok(view) => view,
            Err(error) => {
                relay::Notice { message: &format!("error: {error}") }.write(out);
                return answer;
            }
        };
        match view.message() {
            ClientMessage::Event(Err(error)) => {
                let message = &format!("invalid: {error}");
                match peeked {
                    Some(id) => reply(&id, false, message, out),
                    None => relay::Notice { message }.write(out),
                }
            }
            ClientMessage::Event(Ok(event)) if !event.check_id().is_match() => {
                reply(event.id(), false, "invalid: the id is not that of the event", out);
            }
            ClientMessage::Event(Ok(event)) => {
                reply(event.id(), true, "", out);
                self.publish(event.detach());
            }
            ClientMessage::Req { sub, filters } => match compile(filters) {
                Err(error) => {
                    relay::Closed { sub: &sub.to_cow(), message: &error }.write(out);
                }
                Ok(filters) => {
                    answer.sub = sub.to_string();
                    let limit = filters.iter().filter_map(CompiledFilter::limit).max();
                    let limit = limit.map_or(MAX_ANSWER, |limit| MAX_ANSWER.min(limit as usize));
                    answer.stored = self.stored(&filters).take(limit).cloned().collect();
                    match self.subscribe(client, &sub, filters) {
                        true => relay::Eose { sub: &answer.sub }.write(out),
                        false => {
                            let message = "error: too many subscriptions";
                            relay::Closed { sub: &answer.sub, message }.write(out);
                        }
                    }
                }
            },
            ClientMessage::Count { sub, filters } => match compile(filters) {
                Err(error) => relay::Closed { sub: &sub.to_cow(), message: &error }.write(out),
                Ok(filters) => {
                    let count = self.stored(&filters).count() as u64;
                    let sub = &sub.to_cow();
                    relay::Count { sub, count, approximate: None, hll: None }.write(out);
                }
            },
            ClientMessage::Close { sub } => {
                let sub = sub.to_string();
                self.subs.remove(&(client, sub.clone()));
                self.clients.get_mut(&client).map(|client| client.subs.remove(&sub));
            }
            _ => relay::Notice { message: "unsupported: not this label" }.write(out),
        }
        answer
    }

    /// Stored events, the newest first.
    fn stored<'a>(&'a self, filters: &'a [CompiledFilter]) -> impl Iterator<Item = &'a EventView> {
        let events = self.events.iter().rev();
        events.filter(|event| filters.iter().any(|filter| filter.matches(*event)))
    }

    fn publish(&mut self, event: EventView) {
        let (fanout, mut slow) = (EventFanout::new(&event), Vec::new());
        let clients = &self.clients;
        self.subs.for_each_match(&event, &mut self.visited, |(client, sub)| {
            let client_of = clients.get(client);
            if client_of.is_some_and(|c| c.live.try_send(fanout.to_bytes(sub)).is_err()) {
                slow.push(*client);
            }
        });
        // Whoever does not read is dropped; the others have their event already.
        for client in slow {
            self.clients
                .get(&client)
                .and_then(|client| client.task.as_ref())
                .map(AbortHandle::abort);
        }
        self.ids.insert(*event.id());
        self.events.push_back(event);
        if self.events.len() > MAX_EVENTS {
            self.events.pop_front().map(|oldest| self.ids.remove(oldest.id()));
        }
    }

    fn subscribe(&mut self, client: u64, sub: &JsonStr<'_>, filters: Vec<CompiledFilter>) -> bool {
        let Some(guest) = self.clients.get_mut(&client) else { return false };
        let sub = sub.to_string();
        if guest.subs.len() >= MAX_SUBS && !guest.subs.contains(&sub) {
            return false;
        }
        guest.subs.insert(sub.clone());
        self.subs.insert((client, sub), filters);
        true
    }

    fn join(&mut self, live: mpsc::Sender<Bytes>) -> u64 {
        self.next_client += 1;
        let client = Client { live, task: None, subs: HashSet::new() };
        self.clients.insert(self.next_client, client);
        self.next_client
    }
}

/// A connection, which takes its subscriptions with it when it ends, in whatever way.
struct Guest {
    relay: Arc<Mutex<Relay>>,
    id: u64,
}

impl Drop for Guest {
    fn drop(&mut self) {
        with(&self.relay, |relay| {
            for sub in relay.clients.remove(&self.id).into_iter().flat_map(|client| client.subs) {
                relay.subs.remove(&(self.id, sub));
            }
        });
    }
}

fn with<T>(relay: &Mutex<Relay>, work: impl FnOnce(&mut Relay) -> T) -> T {
    work(&mut relay.lock().unwrap_or_else(PoisonError::into_inner))
}

fn compile(filters: RawFilters<'_, Bytes>) -> Result<Vec<CompiledFilter>, String> {
    let compile = |filter: RawFilter<'_, Bytes>| {
        let view =
            FilterView::parse(filter.share()).map_err(|error| format!("invalid: {error}"))?;
        Ok(CompiledFilter::from(&view))
    };
    filters.map(compile).collect()
}

fn reply(id: &[u8; 32], accepted: bool, message: &str, out: &mut Vec<u8>) {
    relay::OkReply { id: id.into(), accepted, message }.write(out);
}

fn text(frame: Bytes) -> Result<Message, std::str::Utf8Error> {
    Utf8Bytes::try_from(frame).map(Message::Text)
}
