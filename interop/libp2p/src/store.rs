//! Store over libp2p streams: a light node pages through what a store node keeps.
//!
//! A page is put together around the messages as they were received, so that megabytes are sent
//! without a copy of borrowire's making.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use borrowire::codec::Protocol;
use borrowire::message_path::workload::{CONTENT_TOPIC, PUBSUB_TOPIC, Workload};
use borrowire::splice::Splices;
use borrowire::waku::store::{
    ContentFilter, KeyValue, QueryRequestBuilder, QueryRequestView, QueryResponseBuilder,
    QueryResponseView,
};
use borrowire::waku::{MessageHash, MessageView};
use borrowire::{Envelope, counters};
use bytes::Bytes;
use futures::StreamExt;
use libp2p::{PeerId, StreamProtocol};
use libp2p_stream::Control;

use crate::node::{listen, swarm, work_until};
use crate::streams::{Service, ask, serve};

/// Stores `count` messages, fetches them page by page, and checks what comes.
pub fn run(count: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let work = run_nodes(count.max(4));
        tokio::time::timeout(Duration::from_secs(60), work).await?
    })
}

async fn run_nodes(count: usize) -> Result<()> {
    let workload = Workload::new(count, 42, 2 << 32);
    let archive = (0..count)
        .map(|i| {
            let message = MessageView::parse(workload.frame(i))?;
            Ok(Envelope::new(PUBSUB_TOPIC, message))
        })
        .collect::<Result<Arc<[_]>>>()?;

    let (mut node, mut light) = (swarm()?, swarm()?);
    let node_id = *node.local_peer_id();
    light.dial(listen(&mut node).await?)?;
    tokio::try_join!(
        work_until(&mut node, "the light node", |node| node.network_info().num_peers() == 1),
        work_until(&mut light, "the store node", |light| light.is_connected(&node_id)),
    )?;
    let protocol = StreamProtocol::new(Protocol::STORE_QUERY.id);
    let incoming = node.behaviour().streams.new_control().accept(protocol)?;
    tokio::spawn(serve(incoming, Protocol::STORE_QUERY, Store(Arc::clone(&archive))));
    let mut control = light.behaviour().streams.new_control();
    for mut swarm in [node, light] {
        tokio::spawn(async move { while let Some(_event) = swarm.next().await {} });
    }

    let before = counters::thread();
    let (pages, bytes) = fetch_all(&mut control, node_id, &archive).await?;
    let counted = counters::thread() - before;
    ensure!(counted.copies == 0, "borrowire copied {} times", counted.copies);

    let backward = QueryRequestBuilder::by_content("backward", ContentFilter::all());
    let response = query(&mut control, node_id, backward).await?;
    ensure!(response.status_code() == 400, "{response}");
    ensure!(response.request_id() == Some("backward"), "{response}");
    println!("store: {count} messages in {pages} pages, {:.1} MB", bytes as f64 / 1e6);
    Ok(())
}

/// Pages through the archive; says how many pages and bytes it was.
async fn fetch_all(
    control: &mut Control,
    node: PeerId,
    archive: &[Envelope],
) -> Result<(usize, usize)> {
    let (mut fetched, mut pages, mut bytes) = (0, 0, 0);
    let mut cursor = None;
    loop {
        let id = format!("page {pages}");
        let filter = ContentFilter::on(PUBSUB_TOPIC, &[CONTENT_TOPIC]);
        let mut request = QueryRequestBuilder::by_content(&id, filter)
            .include_data(true)
            .pagination_forward(true)
            .pagination_limit(PAGE as u64);
        if let Some(cursor) = cursor {
            request = request.pagination_cursor(cursor);
        }
        let response = query(control, node, request).await?;
        ensure!(response.status_code() == 200, "{response}");
        ensure!(response.request_id() == Some(&id), "the answer to another request: {response}");
        ensure!((1..=PAGE).contains(&response.messages().len()), "{response}");
        for item in response.messages() {
            let item = item?;
            let stored = &archive[fetched];
            let message = item.message().context("no message")??;
            ensure!(message.raw() == stored.message().raw(), "another message came");
            ensure!(item.message_hash() == Some(*stored.hash()), "with another hash");
            let frame = response.raw().as_ptr_range();
            let payload = message.payload().as_ptr_range();
            let is_inside = frame.start <= payload.start && payload.end <= frame.end;
            ensure!(is_inside, "a payload outside of the response");
            fetched += 1;
        }
        pages += 1;
        bytes += response.raw().len();
        cursor = response.pagination_cursor();
        if cursor.is_none() {
            break;
        }
    }
    ensure!(fetched == archive.len(), "{fetched} of {} came", archive.len());
    Ok((pages, bytes))
}

async fn query(
    control: &mut Control,
    node: PeerId,
    request: QueryRequestBuilder<'_>,
) -> Result<QueryResponseView> {
    let request = Bytes::from(request.to_vec());
    let response = ask(control, node, Protocol::STORE_QUERY, request).await?;
    Ok(QueryResponseView::parse(response)?)
}

/// The store node's service. Serves one topic, forward.
#[derive(Clone)]
struct Store(Arc<[Envelope]>);

impl Service for Store {
    type Response = Splices;

    async fn answer(&self, request: Bytes) -> Splices {
        let request = match QueryRequestView::parse(request) {
            Ok(request) => request,
            Err(error) => return failure("N/A", &error.to_string()),
        };
        let id = request.request_id().unwrap_or_default();
        // Absent means backward, as nwaku reads it.
        if request.pagination_forward() != Some(true) {
            return failure(id, "forward only");
        }
        let start = match request.pagination_cursor() {
            None => 0,
            Some(cursor) => match self.0.iter().position(|stored| *stored.hash() == cursor) {
                Some(last) => last + 1,
                None => return failure(id, "no message has the cursor's hash"),
            },
        };
        let limit = request.pagination_limit().unwrap_or(20).min(100) as usize;
        let end = (start + limit).min(self.0.len());
        let cursor = match end < self.0.len() {
            true => self.0[start..end].last().map(|last| *last.hash()),
            false => None,
        };
        page(id, &self.0[start..end], cursor)
    }
}

/// A response around the messages of a page.
fn page(request_id: &str, messages: &[Envelope], cursor: Option<MessageHash>) -> Splices {
    let messages: Vec<_> = messages
        .iter()
        .map(|stored| KeyValue::around(*stored.hash(), stored.pubsub_topic(), stored.message()))
        .collect();
    let mut response = QueryResponseBuilder::new(request_id, 200, "OK").messages(&messages);
    if let Some(cursor) = cursor {
        response = response.pagination_cursor(cursor);
    }
    response.splices()
}

fn failure(request_id: &str, why: &str) -> Splices {
    QueryResponseBuilder::new(request_id, 400, why).splices()
}

/// Messages of a page, the most that nwaku gives.
const PAGE: usize = 100;
