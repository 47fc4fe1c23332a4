//! The server against clients in memory, on a clock that tests move.

mod depth;
mod handshake;
mod mutated;
mod replies;
mod rig;
mod shapes;
mod transmission;
