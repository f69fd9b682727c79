//! What the `ratios` program and the criterion groups share: the rivals and the inputs.

pub mod allocator;
pub mod event;
pub mod filter;
pub mod interleaved;
pub mod memory;
pub mod neg;
pub mod relay;
pub mod store;
pub mod waku;
