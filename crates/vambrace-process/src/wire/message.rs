//! The messages: what is asked of the launcher and of a cell, and what they answer.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use vambrace_policy::command::{Join, RedirectMode, Stream};

use super::{Garbled, Reader, Writer};
use crate::cage::{Layer, Missing};
use crate::finished::Exit;
use crate::guarded::Guarded;
use crate::mark::{Lies, Mark};
use crate::namespace::Namespaces;
use crate::order::{Order, OrderCommand, OrderProgram, OrderRedirect, OrderStep, OrderTarget, ProgramFile};
use crate::spec::{CageLimits, CageSpec, Mount};

/// To a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// With three descriptors beside it: input, output, errors.
    Run(Order),
    Terminate,
    Kill,
}

/// To a runner inside another backend, once, before any command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Confine {
    Nothing,
    As {
        spec: Box<CageSpec>,
        /// Those of whoever asks, which it must not be in.
        outside: Namespaces,
        /// Without all of these it serves nothing.
        marks: Vec<Mark>,
    },
}

/// From the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With the cell's process descriptor beside it.
    Made { pid: u64 },
    Refused {
        why: String,
        /// This system does not do such things, whatever the moment.
        lacks: bool,
    },
}

/// From a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// With the listening socket beside it, if a way out was asked for and the network is the cage's own.
    Ready(Vec<Missing>),
    /// As in `Answer`.
    Refused {
        why: String,
        lacks: bool,
    },
    Done(Done),
    /// After every `Done`, once it was looked for: nothing of the order is left that the next one could see.
    Clean(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) end: End,
    /// As a shell tells them, of every command that was started, in order.
    pub(crate) statuses: Vec<i32>,
    pub(crate) refused: Refused,
}

/// Told by name; of more, only how many.
pub(crate) const MOST_REFUSED: usize = 20;

/// Protected names that programs tried to make.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refused {
    /// The first of them, as the cage spells them.
    pub paths: Vec<PathBuf>,
    pub n_tries: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Exited(Exit),
    /// The program's file is not the one that was looked up.
    Changed(PathBuf),
    NotStarted {
        program: PathBuf,
        errno: i32,
    },
}

pub(crate) fn encode_spec(spec: &CageSpec) -> Vec<u8> {
    let mut writer = Writer::default();
    write_spec(&mut writer, spec);
    writer.done()
}

pub(crate) fn decode_spec(bytes: &[u8]) -> Result<CageSpec, Garbled> {
    let mut reader = Reader::new(bytes);
    let spec = read_spec(&mut reader)?;
    reader.end()?;
    Ok(spec)
}

pub(crate) fn encode_confine(confine: &Confine) -> Vec<u8> {
    let mut writer = Writer::default();
    match confine {
        Confine::Nothing => {
            writer.u8(0);
        }
        Confine::As { spec, outside, marks } => {
            write_spec(writer.u8(1), spec);
            writer.list(&outside.0, |writer, number| {
                writer.u64(*number);
            });
            writer.list(marks, write_mark);
        }
    }
    writer.done()
}

pub(crate) fn decode_confine(bytes: &[u8]) -> Result<Confine, Garbled> {
    let mut reader = Reader::new(bytes);
    let confine = match reader.u8()? {
        0 => Confine::Nothing,
        1 => Confine::As {
            spec: Box::new(read_spec(&mut reader)?),
            outside: Namespaces(reader.list(Reader::u64)?),
            marks: reader.list(read_mark)?,
        },
        _ => return Err(Garbled),
    };
    reader.end()?;
    Ok(confine)
}

pub(crate) fn encode_run(order: &Order) -> Vec<u8> {
    let mut writer = Writer::default();
    write_order(writer.u8(0), order);
    writer.done()
}

pub(crate) const TERMINATE: &[u8] = &[1];
pub(crate) const KILL: &[u8] = &[2];

pub(crate) fn decode_command(bytes: &[u8]) -> Result<Command, Garbled> {
    let mut reader = Reader::new(bytes);
    let command = match reader.u8()? {
        0 => Command::Run(read_order(&mut reader)?),
        1 => Command::Terminate,
        2 => Command::Kill,
        _ => return Err(Garbled),
    };
    reader.end()?;
    Ok(command)
}

pub(crate) fn encode_answer(answer: &Answer) -> Vec<u8> {
    let mut writer = Writer::default();
    match answer {
        Answer::Made { pid } => writer.u8(0).u64(*pid),
        Answer::Refused { why, lacks } => writer.u8(1).u8(u8::from(*lacks)).bytes(why.as_bytes()),
    };
    writer.done()
}

pub(crate) fn decode_answer(bytes: &[u8]) -> Result<Answer, Garbled> {
    let mut reader = Reader::new(bytes);
    let answer = match reader.u8()? {
        0 => Answer::Made { pid: reader.u64()? },
        1 => Answer::Refused { lacks: reader.u8()? == 1, why: reader.text()? },
        _ => return Err(Garbled),
    };
    reader.end()?;
    Ok(answer)
}

pub(crate) fn encode_report(report: &Report) -> Vec<u8> {
    let mut writer = Writer::default();
    match report {
        Report::Ready(missing) => {
            writer.u8(0).list(missing, |writer, one| {
                let place =
                    Layer::ALL.iter().position(|layer| *layer == one.layer).unwrap_or(Layer::ALL.len());
                writer.u64(place as u64).bytes(one.why.as_bytes());
            });
        }
        Report::Refused { why, lacks } => {
            writer.u8(1).u8(u8::from(*lacks)).bytes(why.as_bytes());
        }
        Report::Done(done) => write_done(writer.u8(2), done),
        Report::Clean(is_clean) => {
            writer.u8(3).u8(u8::from(*is_clean));
        }
    }
    writer.done()
}

pub(crate) fn decode_report(bytes: &[u8]) -> Result<Report, Garbled> {
    let mut reader = Reader::new(bytes);
    let report = match reader.u8()? {
        0 => Report::Ready(reader.list(|reader| {
            let place = usize::try_from(reader.u64()?).map_err(|_| Garbled)?;
            let layer = *Layer::ALL.get(place).ok_or(Garbled)?;
            Ok(Missing { layer, why: reader.text()? })
        })?),
        1 => Report::Refused { lacks: reader.u8()? == 1, why: reader.text()? },
        2 => Report::Done(read_done(&mut reader)?),
        3 => Report::Clean(reader.u8()? == 1),
        _ => return Err(Garbled),
    };
    reader.end()?;
    Ok(report)
}

fn write_done(writer: &mut Writer, done: &Done) {
    match &done.end {
        End::Exited(Exit::Code(code)) => writer.u8(0).i32(*code),
        End::Exited(Exit::Signal(signal)) => writer.u8(1).i32(*signal),
        End::Changed(program) => write_path(writer.u8(2), program),
        End::NotStarted { program, errno } => write_path(writer.u8(3), program).i32(*errno),
    };
    writer.list(&done.statuses, |writer, status| {
        writer.i32(*status);
    });
    writer.u64(done.refused.n_tries).list(&done.refused.paths, |writer, path| {
        write_path(writer, path);
    });
}

fn read_done(reader: &mut Reader<'_>) -> Result<Done, Garbled> {
    let end = match reader.u8()? {
        0 => End::Exited(Exit::Code(reader.i32()?)),
        1 => End::Exited(Exit::Signal(reader.i32()?)),
        2 => End::Changed(read_path(reader)?),
        3 => End::NotStarted { program: read_path(reader)?, errno: reader.i32()? },
        _ => return Err(Garbled),
    };
    let statuses = reader.list(Reader::i32)?;
    let refused = Refused { n_tries: reader.u64()?, paths: reader.list(read_path)? };
    Ok(Done { end, statuses, refused })
}

fn write_mark(writer: &mut Writer, mark: &Mark) {
    let (kind, (device, inode)) = match mark.lies {
        Lies::Shown(thing) => (0, thing),
        Lies::Covered(thing) => (1, thing),
    };
    write_path(writer, &mark.at).u8(kind).u64(device).u64(inode).u8(u8::from(mark.is_read_only));
}

fn read_mark(reader: &mut Reader<'_>) -> Result<Mark, Garbled> {
    let (at, kind) = (read_path(reader)?, reader.u8()?);
    let thing = (reader.u64()?, reader.u64()?);
    let lies = match kind {
        0 => Lies::Shown(thing),
        1 => Lies::Covered(thing),
        _ => return Err(Garbled),
    };
    Ok(Mark { at, lies, is_read_only: reader.u8()? == 1 })
}

fn write_path<'a>(writer: &'a mut Writer, path: &Path) -> &'a mut Writer {
    writer.bytes(path.as_os_str().as_bytes())
}

fn read_path(reader: &mut Reader<'_>) -> Result<PathBuf, Garbled> {
    reader.bytes().map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)))
}

fn write_spec(writer: &mut Writer, spec: &CageSpec) {
    writer.list(&spec.mounts, write_mount);
    writer.u64(spec.limits.processes).u64(spec.limits.memory_bytes).u64(spec.limits.file_bytes);
    for paths in [&spec.writable, &spec.groups] {
        writer.list(paths, |writer, path| {
            write_path(writer, path);
        });
    }
    writer.list(spec.guarded.as_slice(), |writer, guarded| {
        write_path(write_path(writer, &guarded.workspace), &guarded.service)
            .bytes(guarded.patterns.as_bytes())
            .bytes(guarded.blocked.as_bytes());
    });
    writer.u8(u8::from(spec.way_out));
}

fn read_spec(reader: &mut Reader<'_>) -> Result<CageSpec, Garbled> {
    Ok(CageSpec {
        mounts: reader.list(read_mount)?,
        limits: CageLimits {
            processes: reader.u64()?,
            memory_bytes: reader.u64()?,
            file_bytes: reader.u64()?,
        },
        writable: reader.list(read_path)?,
        groups: reader.list(read_path)?,
        guarded: reader
            .list(|reader| {
                let (workspace, service) = (read_path(reader)?, read_path(reader)?);
                let (patterns, blocked) = (reader.text()?.into(), reader.text()?.into());
                Ok(Guarded { workspace, service, patterns, blocked, turns: None })
            })?
            .pop(),
        way_out: reader.u8()? == 1,
    })
}

fn write_mount(writer: &mut Writer, mount: &Mount) {
    match mount {
        Mount::ReadOnly { from, at } => write_path(write_path(writer.u8(0), from), at),
        Mount::Writable { from, at } => write_path(write_path(writer.u8(1), from), at),
        Mount::Pin { at } => write_path(writer.u8(2), at),
        Mount::PinReadOnly { at } => write_path(writer.u8(3), at),
        Mount::EmptyFolder { at } => write_path(writer.u8(4), at),
        Mount::EmptyFile { at } => write_path(writer.u8(5), at),
        Mount::Text { at, text } => write_path(writer.u8(6), at).bytes(text.as_bytes()),
        Mount::Memory { at, bytes } => write_path(writer.u8(7), at).u64(*bytes),
        Mount::Link { at, to } => write_path(write_path(writer.u8(8), at), to),
        Mount::Processes => writer.u8(9),
        Mount::Devices => writer.u8(10),
        Mount::PinLink { at } => write_path(writer.u8(11), at),
    };
}

fn read_mount(reader: &mut Reader<'_>) -> Result<Mount, Garbled> {
    Ok(match reader.u8()? {
        0 => Mount::ReadOnly { from: read_path(reader)?, at: read_path(reader)? },
        1 => Mount::Writable { from: read_path(reader)?, at: read_path(reader)? },
        2 => Mount::Pin { at: read_path(reader)? },
        3 => Mount::PinReadOnly { at: read_path(reader)? },
        4 => Mount::EmptyFolder { at: read_path(reader)? },
        5 => Mount::EmptyFile { at: read_path(reader)? },
        6 => Mount::Text { at: read_path(reader)?, text: reader.text()? },
        7 => Mount::Memory { at: read_path(reader)?, bytes: reader.u64()? },
        8 => Mount::Link { at: read_path(reader)?, to: read_path(reader)? },
        9 => Mount::Processes,
        10 => Mount::Devices,
        11 => Mount::PinLink { at: read_path(reader)? },
        _ => return Err(Garbled),
    })
}

fn write_order(writer: &mut Writer, order: &Order) {
    writer.list(&order.steps, |writer, step| {
        writer.u8(match step.join {
            Join::First => 0,
            Join::Then => 1,
            Join::IfOk => 2,
            Join::IfFailed => 3,
        });
        writer.list(&step.pipeline, write_order_command);
    });
    write_path(writer, &order.folder).list(&order.environment, |writer, (name, value)| {
        writer.bytes(name.as_bytes()).bytes(value.as_bytes());
    });
}

fn read_order(reader: &mut Reader<'_>) -> Result<Order, Garbled> {
    let steps = reader.list(|reader| {
        let join = match reader.u8()? {
            0 => Join::First,
            1 => Join::Then,
            2 => Join::IfOk,
            3 => Join::IfFailed,
            _ => return Err(Garbled),
        };
        Ok(OrderStep { join, pipeline: reader.list(read_order_command)? })
    })?;
    let folder = read_path(reader)?;
    let environment = reader.list(|reader| Ok((reader.text()?, reader.text()?)))?;
    Ok(Order { steps, folder, environment })
}

fn write_order_command(writer: &mut Writer, command: &OrderCommand) {
    match command {
        OrderCommand::Enter(folder) => {
            writer.u8(0).bytes(folder.as_bytes());
        }
        OrderCommand::Run(program) => {
            write_path(writer.u8(1), &program.file.path).u64(program.file.device).u64(program.file.inode);
            writer.list(&program.vector, |writer, word| {
                writer.bytes(word.as_bytes());
            });
            writer.list(&program.redirects, write_redirect);
        }
    }
}

fn read_order_command(reader: &mut Reader<'_>) -> Result<OrderCommand, Garbled> {
    Ok(match reader.u8()? {
        0 => OrderCommand::Enter(reader.text()?),
        1 => OrderCommand::Run(OrderProgram {
            file: ProgramFile { path: read_path(reader)?, device: reader.u64()?, inode: reader.u64()? },
            vector: reader.list(Reader::text)?,
            redirects: reader.list(read_redirect)?,
        }),
        _ => return Err(Garbled),
    })
}

fn stream_number(stream: Stream) -> u8 {
    match stream {
        Stream::In => 0,
        Stream::Out => 1,
        Stream::Err => 2,
        Stream::Both => 3,
    }
}

fn read_stream(reader: &mut Reader<'_>) -> Result<Stream, Garbled> {
    match reader.u8()? {
        0 => Ok(Stream::In),
        1 => Ok(Stream::Out),
        2 => Ok(Stream::Err),
        3 => Ok(Stream::Both),
        _ => Err(Garbled),
    }
}

fn write_redirect(writer: &mut Writer, redirect: &OrderRedirect) {
    writer.u8(stream_number(redirect.stream));
    match &redirect.target {
        OrderTarget::Null => writer.u8(0),
        OrderTarget::Stream(stream) => writer.u8(1).u8(stream_number(*stream)),
        OrderTarget::File { path, mode } => writer.u8(2).bytes(path.as_bytes()).u8(match mode {
            RedirectMode::Read => 0,
            RedirectMode::Truncate => 1,
            RedirectMode::Append => 2,
        }),
    };
}

fn read_redirect(reader: &mut Reader<'_>) -> Result<OrderRedirect, Garbled> {
    let stream = read_stream(reader)?;
    let target = match reader.u8()? {
        0 => OrderTarget::Null,
        1 => OrderTarget::Stream(read_stream(reader)?),
        2 => OrderTarget::File {
            path: reader.text()?,
            mode: match reader.u8()? {
                0 => RedirectMode::Read,
                1 => RedirectMode::Truncate,
                2 => RedirectMode::Append,
                _ => return Err(Garbled),
            },
        },
        _ => return Err(Garbled),
    };
    Ok(OrderRedirect { stream, target })
}
