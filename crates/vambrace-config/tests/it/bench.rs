//! A workbench: a temporary operator's folder and workspace, and a way to load from them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use tempfile::TempDir;
use vambrace_config::{ConfigErrors, Loaded, Overrides, Sources, load};

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) sources: Sources,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let folder = TempDir::new().unwrap();
        for name in ["work", "user"] {
            std::fs::DirBuilder::new().create(folder.path().join(name)).unwrap();
        }
        let sources = Sources {
            explicit: None,
            user_dir: Some(folder.path().join("user")),
            workspace: folder.path().join("work"),
            profile: None,
            environment: BTreeMap::new(),
            overrides: Overrides::default(),
        };
        Bench { folder, sources }
    }

    /// A file at `work/…` (the project) or `user/…` (the operator).
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Bench {
        File::create(self.folder.path().join(path)).unwrap().write_all(content.as_ref()).unwrap();
        self
    }

    /// The operator's file, named as `--config` would.
    pub(crate) fn config(mut self, name: &str, content: impl AsRef<[u8]>) -> Bench {
        self.sources.explicit = Some(self.folder.path().join(name));
        self.file(name, content)
    }

    pub(crate) fn environment(mut self, name: &str, value: &str) -> Bench {
        self.sources.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn profile(mut self, name: &str) -> Bench {
        self.sources.profile = Some(name.to_owned());
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn load(&self) -> Result<Loaded, ConfigErrors> {
        load(&self.sources)
    }

    #[track_caller]
    pub(crate) fn loaded(&self) -> Loaded {
        match self.load() {
            Ok(loaded) => loaded,
            Err(errors) => panic!("{errors}"),
        }
    }

    /// The messages, with the temporary folder cut off.
    #[track_caller]
    pub(crate) fn messages(&self) -> String {
        match self.load() {
            Ok(_) => panic!("it loads"),
            Err(errors) => self.without_folder(&errors.to_string()),
        }
    }

    pub(crate) fn without_folder(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}
