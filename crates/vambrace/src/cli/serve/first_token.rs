//! The token of the first start (decision C18): made when no credential is configured, kept for the user
//! alone.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;
use vambrace_auth::api_key;
use vambrace_config::section::{AuthMode, Config, JwtTrust};

pub(super) struct FirstToken {
    pub(super) token: String,
    /// Whether this start made it.
    pub(super) is_new: bool,
}

/// Never beside another credential: whoever configured one does not expect a second.
pub(super) fn is_needed(config: &Config) -> bool {
    let has_internal =
        config.auth.internal_token.as_ref().is_some_and(|token| !token.secret().expose().is_empty());
    config.auth.mode == AuthMode::Token
        && !has_internal
        && config.api_keys.0.is_empty()
        && config.auth.jwt.jwks.as_deref().is_none_or(str::is_empty)
        // Believed only from proxies, so without any it lets nobody in.
        && (config.auth.jwt.trust == JwtTrust::Verify || config.server.trusted_proxies.is_empty())
        && config.slack.signing_secret.as_ref().is_none_or(|secret| secret.secret().expose().is_empty())
}

/// A token is at least this long; what is shorter is what a crash or an editor left.
const SHORTEST: usize = 24;

pub(super) fn kept(state: &Path) -> io::Result<FirstToken> {
    let path = state.join("token");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    check_folder(state)?;
    if let Some(token) = read(&path)? {
        return Ok(FirstToken { token, is_new: false });
    }
    let token = fresh()?;
    let mut other = [0; 8];
    getrandom::fill(&mut other).map_err(io::Error::other)?;
    // Whole or not at all, and never over one that another start has made meanwhile.
    let beside = state.join(format!("token.{:016x}", u64::from_le_bytes(other)));
    let made = write(&beside, &token).and_then(|()| fs::hard_link(&beside, &path));
    let _ = fs::remove_file(&beside);
    match made {
        Ok(()) => Ok(FirstToken { token, is_new: true }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let token = read(&path)?.ok_or(error)?;
            Ok(FirstToken { token, is_new: false })
        }
        Err(error) => Err(error),
    }
}

/// For a dry run: the one that is kept, or one that ends with this process.
pub(super) fn shown(state: &Path) -> io::Result<FirstToken> {
    let kept = match check_folder(state) {
        Ok(()) => read(&state.join("token"))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match kept {
        Some(token) => Ok(FirstToken { token, is_new: false }),
        None => Ok(FirstToken { token: fresh()?, is_new: true }),
    }
}

fn fresh() -> io::Result<String> {
    let mut chance = [0; 16];
    getrandom::fill(&mut chance).map_err(io::Error::other)?;
    Ok(api_key("local", chance))
}

fn write(path: &Path, token: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(token.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// LIMIT: of what is read; a token is far shorter.
const LONGEST: u64 = 4096;

/// THREAT: P13, a token that somebody else could read, or put there, lets them in.
fn read(path: &Path) -> io::Result<Option<String>> {
    let unsafe_to_use =
        |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("`{}` {why}", path.display()));
    // A pipe in its place would keep us waiting; a link would lead elsewhere.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let opened = fs::File::options().read(true).custom_flags(flags.cast_signed()).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(unsafe_to_use("is a link; remove it to get a new token"));
        }
        Err(error) => return Err(error),
    };
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(unsafe_to_use("is not a regular file; remove it to get a new token"));
    }
    if about.uid() != geteuid().as_raw() {
        return Err(unsafe_to_use("belongs to another user; remove it to get a new token"));
    }
    if about.mode() & 0o077 != 0 {
        return Err(unsafe_to_use("can be read by others; remove it to get a new token"));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    let token = text.trim();
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unsafe_to_use("does not hold a token; remove it to get a new one"));
    }
    Ok(Some(token.to_owned()))
}

/// Whoever may write in the folder could exchange the token for one of theirs.
fn check_folder(state: &Path) -> io::Result<()> {
    let about = fs::metadata(state)?;
    let is_sticky = about.mode() & 0o1000 != 0;
    let why = if about.mode() & 0o022 != 0 && !is_sticky {
        "can be written by others; take their right away (chmod go-w)"
    } else if ![0, geteuid().as_raw()].contains(&about.uid()) {
        "belongs to another user"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("`{}` {why}", state.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn starts_at_once_have_one_token() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let tokens: Vec<FirstToken> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| kept(&state).unwrap())).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        let again = kept(&state).unwrap();
        assert!(!again.is_new);
        assert_eq!(tokens.iter().filter(|one| one.is_new).count(), 1);
        assert!(tokens.iter().all(|one| one.token == again.token));
        assert_eq!(fs::metadata(state.join("token")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_dry_run_keeps_none() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        assert!(shown(&state).unwrap().is_new);
        assert!(!state.exists());
        let first = kept(&state).unwrap();
        assert_eq!(shown(&state).unwrap().token, first.token);
    }

    #[test]
    fn what_is_no_token_of_ours_is_not_taken_for_one() {
        #[track_caller]
        fn check(spoil: impl Fn(&Path), is_good: bool) {
            let dir = tempfile::tempdir().unwrap();
            let state = dir.path().join("state");
            let first = kept(&state).unwrap();
            spoil(&state);
            match kept(&state) {
                Ok(again) => assert!(is_good && again.token == first.token && !again.is_new),
                Err(error) => assert!(!is_good, "{error}"),
            }
        }
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        check(|_| {}, true);
        check(|state| fs::write(state.join("token"), "short").unwrap(), false);
        check(|state| mode(&state.join("token"), 0o400), true);
        check(|state| mode(&state.join("token"), 0o640), false);
        check(|state| mode(&state.join("token"), 0o604), false);
        check(|state| mode(state, 0o755), true);
        check(|state| mode(state, 0o1777), true);
        check(|state| mode(state, 0o777), false);
        check(|state| mode(state, 0o720), false);
        let elsewhere = |state: &Path| {
            fs::rename(state.join("token"), state.join("other")).unwrap();
            std::os::unix::fs::symlink("other", state.join("token")).unwrap();
        };
        check(elsewhere, false);
        let folder = |state: &Path| {
            fs::remove_file(state.join("token")).unwrap();
            fs::create_dir(state.join("token")).unwrap();
        };
        check(folder, false);
    }
}
