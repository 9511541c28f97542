//! Where things are: our sources, our binary, the peers' folder and the data of the runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

pub(crate) struct Place {
    pub(crate) root: PathBuf,
    /// The release binary, beside the one that runs now.
    pub(crate) vambrace: PathBuf,
    /// Peers and small programs; filled once.
    pub(crate) tools: PathBuf,
    /// Trees to search, workspaces, state folders.
    pub(crate) data: PathBuf,
}

impl Place {
    pub(crate) fn find() -> Result<Place, Failure> {
        let fix = "Start it as `cargo xtask bench NAME`.";
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = manifest.as_deref().and_then(Path::parent).map(Path::to_owned);
        let root = root.ok_or_else(|| Failure::new("the workspace is not known", fix))?;
        let own = std::env::current_exe()
            .map_err(|problem| Failure::new(format!("our own binary is not known: {problem}"), fix))?;
        let target = root.join("target");
        let (tools, data) = (target.join("bench-tools"), target.join("bench-data"));
        for folder in [&tools, &data] {
            fs::create_dir_all(folder).map_err(Failure::disk(folder))?;
        }
        Ok(Place { vambrace: own.with_file_name("vambrace"), root, tools, data })
    }

    /// An empty folder of this name among the data.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.data.join(name);
        make_empty(&folder)?;
        Ok(folder)
    }
}

pub(crate) fn make_empty(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Failure::disk(folder))?;
    }
    fs::create_dir_all(folder).map_err(Failure::disk(folder))
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Failure::disk(folder))?;
    }
    fs::write(path, bytes).map_err(Failure::disk(path))
}
