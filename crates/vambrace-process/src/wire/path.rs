//! Paths on the wire: their bytes, which need not be text.

use std::ffi::OsString;
use std::io::{Read, Result, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use borsh::{BorshDeserialize, BorshSerialize};

pub(crate) fn write<W: Write>(path: &Path, writer: &mut W) -> Result<()> {
    path.as_os_str().as_bytes().serialize(writer)
}

pub(crate) fn read<R: Read>(reader: &mut R) -> Result<PathBuf> {
    Vec::<u8>::deserialize_reader(reader).map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

pub(crate) fn write_all<W: Write>(paths: &[PathBuf], writer: &mut W) -> Result<()> {
    let bytes: Vec<&[u8]> = paths.iter().map(|path| path.as_os_str().as_bytes()).collect();
    bytes.serialize(writer)
}

pub(crate) fn read_all<R: Read>(reader: &mut R) -> Result<Vec<PathBuf>> {
    let paths = Vec::<Vec<u8>>::deserialize_reader(reader)?;
    Ok(paths.into_iter().map(|bytes| PathBuf::from(OsString::from_vec(bytes))).collect())
}
