//! How this process, the launcher and the cells talk: frames with a length in front over a unix
//! stream, descriptors beside them. It knows bytes and descriptors; what they mean is in
//! `wire::message`.
//!
//! A message is what borsh makes of its type: compact, and read back without reserving more than
//! what is there. Both ends are the same binary, so no version has to be understood by others.

mod fuzzed;
pub(crate) mod message;
pub(crate) mod path;

pub use fuzzed::check_wire_message;

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use borsh::{BorshDeserialize, BorshSerialize};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

/// An order with every argument and variable the kernel would take is below this.
const LARGEST_FRAME: usize = 16 << 20;
const MOST_DESCRIPTORS: usize = 4;
/// Frames mostly fit, so that one call fetches length and body.
const FIRST_READ: usize = 4096;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Line {
    socket: OwnedFd,
    /// Bytes of the next frame that came together with the last one.
    ahead: Vec<u8>,
    ahead_descriptors: Vec<OwnedFd>,
}

/// Not one of our messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Garbled;

/// Every byte has to belong to the message.
pub(crate) fn decode<T: BorshDeserialize>(bytes: &[u8]) -> Result<T, Garbled> {
    borsh::from_slice(bytes).map_err(|_| Garbled)
}

pub(crate) fn encode<T: BorshSerialize>(message: &T) -> Result<Vec<u8>, Errno> {
    borsh::to_vec(message).map_err(|_| Errno::MSGSIZE)
}

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) body: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Frame {
    pub(crate) fn read<T: BorshDeserialize>(&self) -> Result<T, Garbled> {
        decode(&self.body)
    }
}

/// Two ends that are closed when another program is executed.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

impl Line {
    pub(crate) fn new(socket: OwnedFd) -> Line {
        Line { socket, ahead: Vec::new(), ahead_descriptors: Vec::new() }
    }

    pub(crate) fn has_more(&self) -> bool {
        self.ahead.len() >= 4
    }

    pub(crate) fn send<T: BorshSerialize>(
        &self,
        message: &T,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), Errno> {
        self.send_encoded(&encode(message)?, descriptors)
    }

    pub(crate) fn send_encoded(&self, body: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let length = u32::try_from(body.len()).map_err(|_| Errno::MSGSIZE)?;
        if body.len() > LARGEST_FRAME {
            return Err(Errno::MSGSIZE);
        }
        let mut frame = Vec::with_capacity(body.len() + 4);
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(body);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut rest: &[u8] = &frame;
        let mut first = true;
        while !rest.is_empty() {
            let mut beside = SendAncillaryBuffer::new(&mut space);
            if first && !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors))
            {
                return Err(Errno::MSGSIZE);
            }
            match rustix::net::sendmsg(&self.socket, &[IoSlice::new(rest)], &mut beside, SendFlags::NOSIGNAL)
            {
                Ok(n_sent) => {
                    rest = rest.get(n_sent..).unwrap_or_default();
                    first = false;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// The next frame; none when the other end is gone.
    pub(crate) fn receive(&mut self) -> Result<Option<Frame>, Errno> {
        loop {
            if let Some(frame) = self.take_frame()? {
                return Ok(Some(frame));
            }
            if !self.read_some()? {
                return Ok(None);
            }
        }
    }

    fn take_frame(&mut self) -> Result<Option<Frame>, Errno> {
        let Some((header, rest)) = self.ahead.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > LARGEST_FRAME {
            return Err(Errno::MSGSIZE);
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let body = body.to_vec();
        self.ahead.drain(..4 + length);
        // INVARIANT: a frame with descriptors is answered before the next such frame is sent, so all that came are its.
        Ok(Some(Frame { body, descriptors: std::mem::take(&mut self.ahead_descriptors) }))
    }

    fn read_some(&mut self) -> Result<bool, Errno> {
        let wanted = match self.ahead.split_first_chunk::<4>() {
            Some((header, rest)) => (u32::from_le_bytes(*header) as usize).saturating_sub(rest.len()),
            None => FIRST_READ,
        };
        let mut buffer = vec![0u8; wanted.clamp(FIRST_READ, LARGEST_FRAME)];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let n_read = loop {
            let into = &mut [IoSliceMut::new(&mut buffer)];
            match rustix::net::recvmsg(&self.socket, into, &mut beside, RecvFlags::CMSG_CLOEXEC) {
                Ok(received) => break received.bytes,
                Err(Errno::INTR) => {}
                // The other end was killed with our bytes unread: as gone as if it had closed.
                Err(Errno::CONNRESET) => return Ok(false),
                Err(errno) => return Err(errno),
            }
        };
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.ahead_descriptors.extend(descriptors);
            }
        }
        self.ahead.extend_from_slice(buffer.get(..n_read).unwrap_or_default());
        Ok(n_read > 0)
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    use super::*;
    use crate::spec::{CageSpec, Mount};

    fn spec() -> CageSpec {
        // A name need not be text.
        let at = PathBuf::from(std::ffi::OsString::from_vec(b"/w/\xff".to_vec()));
        let mounts = vec![Mount::Pin { at: at.clone() }, Mount::Text { at, text: "ü".to_owned() }];
        CageSpec { mounts, ..CageSpec::default() }
    }

    #[test]
    fn a_message_is_read_whole_or_not_at_all() {
        let whole = encode(&spec()).unwrap();
        assert_eq!(decode(&whole), Ok(spec()));
        for n_bytes in 0..whole.len() {
            assert_eq!(decode::<CageSpec>(&whole[..n_bytes]), Err(Garbled), "{n_bytes}");
        }
        assert_eq!(decode::<CageSpec>(&[&whole[..], &[0]].concat()), Err(Garbled));
        assert_eq!(decode::<CageSpec>(&u32::MAX.to_le_bytes()), Err(Garbled));
    }
}
