//! Bytes in, a view, an envelope that two threads share, one hash. The README's dozen lines.

use std::sync::Arc;
use std::thread;

use borrowire::Envelope;
use borrowire::waku::MessageView;
use bytes::Bytes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let received = Bytes::from_static(b"\x0a\x05hello\x12\x15/toychat/2/chat/proto\x50\x02");
    let message = MessageView::parse(received.clone())?; // one pass, nothing is copied
    assert_eq!(message.payload(), b"hello");
    assert_eq!(message.payload().as_ptr(), received[2..].as_ptr());

    let envelope = Arc::new(Envelope::new("/waku/2/rs/1/3", message));
    let archive = thread::spawn({
        let envelope = Arc::clone(&envelope); // counts a reference
        move || *envelope.hash()
    });
    assert_eq!(*envelope.hash(), archive.join().unwrap()); // computed once, for both threads
    println!("{} has the hash {}", envelope.message(), envelope.hash());
    Ok(())
}
