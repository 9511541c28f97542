//! How this process, the launcher and the cells talk: frames with a length in front over a unix stream, descriptors
//! beside them. It knows bytes and descriptors; what they mean is in `wire::message`.
//!
//! The encoding is written by hand because both ends are the same binary: no format has to be understood by others.

mod fuzzed;
pub(crate) mod message;

pub use fuzzed::check_wire_message;

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) body: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
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

    pub(crate) fn send(&self, body: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
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

/// Writes values one after another.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) -> &mut Writer {
        self.0.push(value);
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Writer {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Writer {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Writer {
        self.u64(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut one: impl FnMut(&mut Writer, &T)) -> &mut Writer {
        self.u64(values.len() as u64);
        for value in values {
            one(self, value);
        }
        self
    }

    pub(crate) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Reads them back; a value that is not there is an error, never a default.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Garbled;

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(Garbled)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Garbled> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Garbled> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Garbled> {
        self.array().map(i32::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Garbled> {
        let length = usize::try_from(self.u64()?).map_err(|_| Garbled)?;
        let (head, rest) = self.0.split_at_checked(length).ok_or(Garbled)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn text(&mut self) -> Result<String, Garbled> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| Garbled)
    }

    pub(crate) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Reader<'a>) -> Result<T, Garbled>,
    ) -> Result<Vec<T>, Garbled> {
        let n_values = self.u64()?;
        // Every value takes a byte at least: a false count ends the loop early instead of reserving memory.
        (0..n_values).map(|_| one(self)).collect()
    }

    pub(crate) fn end(&self) -> Result<(), Garbled> {
        if self.0.is_empty() { Ok(()) } else { Err(Garbled) }
    }
}
