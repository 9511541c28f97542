//! A path beneath the workspace, safe by spelling. What links, mounts and renames do to it is settled by the files
//! door, on the opened handle.

/// Where an agent's spelling counts from. All lists hold plain components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearings {
    /// Absolute spellings of the workspace itself (as given, and as the kernel resolves it).
    workspace: Vec<Vec<String>>,
    /// The active service, beneath the workspace; empty when it is the workspace.
    service: Vec<String>,
    /// Shared paths, beneath the workspace.
    shared: Vec<Vec<String>>,
}

impl Bearings {
    /// `workspace` holds absolute paths; `service` and `shared` are relative to the workspace.
    pub fn new(workspace: &[&str], service: &str, shared: &[&str]) -> Bearings {
        let split = |text: &str| -> Vec<String> {
            text.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
        };
        Bearings {
            workspace: workspace.iter().map(|text| split(text)).collect(),
            service: split(service),
            shared: shared.iter().map(|text| split(text)).filter(|parts| !parts.is_empty()).collect(),
        }
    }

    pub fn service(&self) -> &[String] {
        &self.service
    }

    pub fn shared(&self) -> &[Vec<String>] {
        &self.shared
    }

    /// With an active service, a relative path counts from the service, except where its first part says that it
    /// counts from the workspace: it begins with a shared path, or with the first folder of the service's own path.
    /// A leading `./` always means the service.
    fn counts_from_workspace(&self, parts: &[&str]) -> bool {
        let begins_with = |prefix: &[String]| {
            prefix.len() <= parts.len() && prefix.iter().zip(parts).all(|(ours, theirs)| ours == theirs)
        };
        let service_top = self.service.get(..1).unwrap_or_default();
        self.service.is_empty()
            || begins_with(service_top)
            || self.shared.iter().any(|shared| begins_with(shared))
    }
}

/// Zero or more plain components beneath the workspace root. No `AsRef<Path>`, no `Display`, no absolute form: only
/// a `Root` of the files door can open it, and only beneath itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopedPath {
    components: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathProblem {
    Nul,
    TooLong,
    /// The spelling leaves the workspace.
    Outside,
}

impl ScopedPath {
    pub const LONGEST: usize = 4096;
    pub const LONGEST_COMPONENT: usize = 255;

    /// Reads a path as an agent writes it. `..` is taken by its spelling, before any link is looked at, so no `..`
    /// ever reaches the kernel.
    pub fn parse(text: &str, bearings: &Bearings) -> Result<ScopedPath, PathProblem> {
        if text.contains('\0') {
            return Err(PathProblem::Nul);
        }
        if text.len() > Self::LONGEST {
            return Err(PathProblem::TooLong);
        }
        let mut components: Vec<String> = Vec::new();
        let parts: Vec<&str>;
        if text.starts_with('/') {
            let absolute = normalize_absolute(text);
            let root = bearings
                .workspace
                .iter()
                .find(|root| root.len() <= absolute.len() && root.iter().zip(&absolute).all(|(a, b)| a == b))
                .ok_or(PathProblem::Outside)?;
            parts = absolute.get(root.len()..).unwrap_or_default().to_vec();
        } else {
            // Only a leading `.` says something: it means the service.
            let said = |(place, part): &(usize, &str)| !part.is_empty() && (*place == 0 || *part != ".");
            parts = text.split('/').enumerate().filter(said).map(|(_, part)| part).collect();
            if !bearings.counts_from_workspace(&parts) {
                components.extend(bearings.service.iter().cloned());
            }
        }
        walk(&mut components, parts.into_iter())?;
        Ok(ScopedPath { components })
    }

    /// Reads a path as a program does that works in `folder`: a relative one counts from there and from nowhere else.
    pub fn beneath(folder: &ScopedPath, text: &str, bearings: &Bearings) -> Result<ScopedPath, PathProblem> {
        if text.starts_with('/') {
            return ScopedPath::parse(text, bearings);
        }
        if text.contains('\0') {
            return Err(PathProblem::Nul);
        }
        if text.len() > Self::LONGEST {
            return Err(PathProblem::TooLong);
        }
        let mut components = folder.components.clone();
        walk(&mut components, text.split('/'))?;
        Ok(ScopedPath { components })
    }

    /// From components that a door read from the kernel; refuses what could never be a component.
    pub fn from_components(components: Vec<String>) -> Option<ScopedPath> {
        let plain =
            |name: &String| !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
        components.iter().all(plain).then_some(ScopedPath { components })
    }

    pub fn components(&self) -> &[String] {
        &self.components
    }

    pub fn is_root(&self) -> bool {
        self.components.is_empty()
    }

    pub fn parent(&self) -> Option<ScopedPath> {
        let (_, parents) = self.components.split_last()?;
        Some(ScopedPath { components: parents.to_vec() })
    }

    pub fn file_name(&self) -> Option<&str> {
        self.components.last().map(String::as_str)
    }

    pub fn join(&self, name: &str) -> Option<ScopedPath> {
        let mut components = self.components.clone();
        components.push(name.to_owned());
        ScopedPath::from_components(components)
    }

    /// The spelling that an agent would use, which parses back to the same path.
    pub fn spelled(&self, bearings: &Bearings) -> String {
        let inside = self.components.strip_prefix(bearings.service.as_slice());
        let text = match inside {
            Some([]) => return ".".to_owned(),
            Some(rest) => rest.join("/"),
            None if self.components.is_empty() => {
                return "../".repeat(bearings.service.len()).trim_end_matches('/').to_owned();
            }
            None => self.components.join("/"),
        };
        let parts: Vec<&str> = text.split('/').collect();
        match (inside.is_some(), bearings.counts_from_workspace(&parts)) {
            _ if bearings.service.is_empty() => text,
            (true, false) | (false, true) => text,
            (true, true) => format!("./{text}"),
            (false, false) => format!("{}{text}", "../".repeat(bearings.service.len())),
        }
    }
}

/// Takes each part in turn, `..` by its spelling.
fn walk<'t>(components: &mut Vec<String>, parts: impl Iterator<Item = &'t str>) -> Result<(), PathProblem> {
    for part in parts {
        match part {
            "" | "." => {}
            ".." => {
                components.pop().ok_or(PathProblem::Outside)?;
            }
            name if name.len() > ScopedPath::LONGEST_COMPONENT => return Err(PathProblem::TooLong),
            name => components.push(name.to_owned()),
        }
    }
    Ok(())
}

fn normalize_absolute(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            // As in the kernel: the parent of the root is the root.
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Bearings {
        Bearings::new(&["/home/me/project", "/data/project"], "", &["shared/"])
    }

    fn service() -> Bearings {
        Bearings::new(&["/p"], "services/a", &["shared/", "docs/policies/"])
    }

    #[track_caller]
    fn check(bearings: &Bearings, text: &str, expected: Result<&str, PathProblem>) {
        let parsed = ScopedPath::parse(text, bearings).map(|path| path.components.join("/"));
        assert_eq!(parsed, expected.map(str::to_owned), "{text:?}");
    }

    #[test]
    fn a_path_is_read_beneath_the_workspace() {
        let b = whole();
        check(&b, "src/main.rs", Ok("src/main.rs"));
        check(&b, "./src//main.rs", Ok("src/main.rs"));
        check(&b, "src/../src/main.rs", Ok("src/main.rs"));
        check(&b, "notes..txt", Ok("notes..txt"));
        check(&b, "...", Ok("..."));
        check(&b, ".", Ok(""));
        check(&b, "", Ok(""));
        check(&b, "..", Err(PathProblem::Outside));
        check(&b, "src/../../x", Err(PathProblem::Outside));
        check(&b, "../project/x", Err(PathProblem::Outside)); // leaves on the way, even if it would come back
        check(&b, "\\..\\x", Ok("\\..\\x"));
        check(&b, "%2e%2e/x", Ok("%2e%2e/x"));
        check(&b, "a\0b", Err(PathProblem::Nul));
        check(&b, &"a".repeat(256), Err(PathProblem::TooLong));
        check(&b, &"a/".repeat(2049), Err(PathProblem::TooLong));
    }

    #[test]
    fn an_absolute_path_must_begin_with_the_workspace() {
        let b = whole();
        check(&b, "/home/me/project/src", Ok("src"));
        check(&b, "/data/project", Ok(""));
        check(&b, "/home/me/project2/src", Err(PathProblem::Outside)); // a prefix of the text, not of the path
        check(&b, "/home/me/project/../other", Err(PathProblem::Outside));
        check(&b, "/etc/passwd", Err(PathProblem::Outside));
        check(&b, "/", Err(PathProblem::Outside));
        check(&b, "/../home/me/project/x", Ok("x"));
    }

    #[test]
    fn with_a_service_paths_count_from_it() {
        let b = service();
        check(&b, "src/x", Ok("services/a/src/x"));
        check(&b, "../ab/x", Ok("services/ab/x"));
        check(&b, "../../../x", Err(PathProblem::Outside));
        check(&b, "shared/api.md", Ok("shared/api.md"));
        check(&b, "./shared/api.md", Ok("services/a/shared/api.md"));
        check(&b, "docs/policies/p.md", Ok("docs/policies/p.md"));
        check(&b, "docs//policies/./p.md", Ok("docs/policies/p.md"));
        check(&b, "docs/other.md", Ok("services/a/docs/other.md"));
        check(&b, "services/b/x", Ok("services/b/x"));
        check(&b, "/p/services/b/x", Ok("services/b/x"));
        check(&b, "sharedness", Ok("services/a/sharedness"));
    }

    #[track_caller]
    fn check_beneath(folder: &str, text: &str, expected: Result<&str, PathProblem>) {
        let components = folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let folder = ScopedPath::from_components(components).unwrap();
        let path = ScopedPath::beneath(&folder, text, &service()).map(|path| path.components.join("/"));
        assert_eq!(path, expected.map(str::to_owned), "{text:?}");
    }

    #[test]
    fn a_program_counts_from_its_own_folder_only() {
        check_beneath("services/a/src", "x", Ok("services/a/src/x"));
        check_beneath("services/a/src", "shared/x", Ok("services/a/src/shared/x")); // never from the workspace
        check_beneath("services/a/src", "services/b", Ok("services/a/src/services/b"));
        check_beneath("services/a", "../b/./c", Ok("services/b/c"));
        check_beneath("services/a", "", Ok("services/a"));
        check_beneath("services/a", "../..", Ok(""));
        check_beneath("services/a", "../../..", Err(PathProblem::Outside));
        check_beneath("services/a", "/p/shared/x", Ok("shared/x"));
        check_beneath("services/a", "/q/shared/x", Err(PathProblem::Outside));
        check_beneath("", "a\0", Err(PathProblem::Nul));
        check_beneath("", &"b".repeat(256), Err(PathProblem::TooLong));
        check_beneath("", &"b/".repeat(2049), Err(PathProblem::TooLong));
    }

    #[test]
    fn a_spelling_reads_back_as_the_same_path() {
        for b in [whole(), service()] {
            for text in [
                "",
                "x",
                "services/a",
                "services/a/shared/x",
                "services/a/services/q",
                "shared/x",
                "docs/z",
                "services/b",
            ] {
                let components = text.split('/').filter(|p| !p.is_empty()).map(str::to_owned).collect();
                let path = ScopedPath::from_components(components).unwrap();
                assert_eq!(ScopedPath::parse(&path.spelled(&b), &b), Ok(path.clone()), "{text} in {b:?}");
            }
        }
    }
}
