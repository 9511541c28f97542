//! The one shape in which an error reaches an agent: code, message, suggestion.

use crate::Tree;

/// Decides severity, exit code and whether trying again makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// The arguments were wrong.
    Invalid,
    /// Policy said no; goes to the security stream.
    Denied,
    /// A person has to say yes first.
    Ask,
    /// Try later.
    Busy,
    /// The world said no.
    Failed,
    /// Our own fault; the message is generic and the detail is in the record.
    Internal,
}

macro_rules! codes {
    ($($name:ident $family:ident $meaning:literal;)*) => {
        /// Closed and stable for ever: renaming one is a breaking change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorCode { $(#[doc = $meaning] $name,)* }

        impl ErrorCode {
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => stringify!($name),)* }
            }

            pub fn family(self) -> Family {
                match self { $(ErrorCode::$name => Family::$family,)* }
            }

            /// What it means, for the generated reference.
            pub fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    ValidationError Invalid "The arguments do not fit the tool's schema.";
    ToolNotFound Invalid "No tool of this name is offered to this caller.";
    InvalidPath Invalid "The path cannot name a file: it holds a NUL byte or is too long.";
    InvalidPattern Invalid "The regular expression or syntax pattern does not compile.";
    UnknownHandle Invalid "No stored output has this handle; it was never made or has been dropped.";
    MessageTooLarge Invalid "The request is larger than the door accepts.";
    RouteNotFound Invalid "Nothing is served under this path and method.";
    Unauthenticated Denied "The request shows no valid credential.";
    NotAMember Denied "The caller is not among the people and groups that may use this service.";
    RequestRefused Denied "The request's Host, Origin or headers do not fit this service.";
    CallLoop Denied "The chain of agents that called each other is too long or leads back here.";
    PermissionDenied Denied "The caller's role or tool mode does not include this.";
    PathOutsideProject Denied "The path leaves the workspace, by its spelling or through a link.";
    OutsideScope Denied "The path is in the workspace but not in what this service may see.";
    BlockedPath Denied "The path is in a blocked zone, which nobody may read or write through the tools.";
    ProtectedPath Denied "The path configures what runs or what is allowed, so agents may not change it.";
    ReadOnlyPath Denied "The path may be read but not changed from here.";
    LinkRefused Denied "The last part of the path is a symbolic link, or links are switched off.";
    HardLinkRefused Denied "The file has more than one name, so changing it could change something outside.";
    MountRefused Denied "The path crosses into another mounted file system.";
    SpecialFile Denied "The path names a device, pipe or socket, not a regular file.";
    SecretInWrite Denied "The text to be written holds a secret that Vambrace knows.";
    PlaceholderInWrite Denied "The text to be written holds a redaction marker, so writing it would destroy the real value.";
    SecurityError Denied "A security limit was reached, for instance a pattern that ran too long.";
    RuleDenied Denied "A rule of the operator says no.";
    CommandSyntax Denied "The command line holds something of the shell's grammar that a plan cannot express.";
    NoAllowlist Denied "No list of programs is configured, so no program may be started.";
    NotAllowed Denied "The program is not on the list of programs that may be started.";
    ArgumentNotAllowed Denied "The program is allowed, but not with this argument.";
    DangerousCommand Denied "The command matches a pattern that is refused in any mode.";
    UntrustedProgram Denied "The program's file could be changed by the agent, so it is not started.";
    PolicyViolation Denied "The project's rules ask for another way to do this.";
    BranchNotAllowed Denied "The branch name or the commit message does not follow the rules.";
    SecretInRequest Denied "The request holds a secret that Vambrace knows.";
    UrlInvalid Denied "The URL cannot be read, or holds credentials.";
    SchemeNotAllowed Denied "The URL is neither http nor https.";
    PortNotAllowed Denied "No web server listens on this port, or the operator lists another.";
    HostNotAllowed Denied "The operator blocks this host, or does not list it for programs.";
    PrivateAddress Denied "The URL leads to this machine or into a private network.";
    MetadataAddress Denied "The URL leads to a cloud's metadata service.";
    KubernetesAddress Denied "The URL leads to a service inside a Kubernetes cluster.";
    DnsFailed Denied "The host's name has no address.";
    MethodNotAllowed Denied "The request's method is not among those that a model may use.";
    HeaderNotAllowed Denied "The request's header is not among those that a model may set.";
    RedirectRefused Denied "The server sends the request on to a place where it may not go.";
    Suspended Denied "The caller is suspended until a person releases it.";
    StalePermit Denied "The policy was reloaded while the call was under way.";
    ApprovalRequired Ask "A person has to approve this call, and none could be asked.";
    ResourceBusy Busy "Another call holds the lock on this file.";
    RateLimitExceeded Busy "Too many calls; wait a moment.";
    TooManyPrograms Busy "As many programs as may run at once are running.";
    NoMemoryOwner Failed "Memory is kept for each channel or person here, and the call does not say which.";
    MemoryNotFound Failed "No memory that the caller may see has this id.";
    ApprovalNotFound Failed "No question that the caller may see has this id, or it is answered or too old.";
    TaskNotFound Failed "No task of the caller has this id.";
    NoModel Failed "No language model is configured.";
    NotReady Failed "The service is starting or shutting down.";
    FileNotFound Failed "Nothing exists at this path.";
    AlreadyExists Failed "Something already exists at this path.";
    NotADirectory Failed "A part of the path that should be a folder is not one.";
    IsADirectory Failed "The path names a folder where a file is needed.";
    FileTooLarge Failed "The file is larger than this call may read or write.";
    BinaryFile Failed "The file is not UTF-8 text.";
    MatchCountDiffers Failed "The number of matches is not the expected one, so nothing was changed.";
    OverlappingEdits Failed "Two edits touch the same text, so nothing was changed.";
    SyntaxBroken Failed "The edit would leave a file that no longer parses, so nothing was changed.";
    UnsupportedLanguage Failed "No grammar is known for this file.";
    FileChanged Failed "The file changed while it was being edited, so nothing was changed.";
    OutputLimitExceeded Failed "The answer would be larger than the hard limit.";
    ResourceExhausted Failed "The disk, the memory or a table of the system is full.";
    NotInstalled Failed "The program is allowed, but this machine does not have it.";
    InterpreterNotFound Failed "The interpreter of an inline tool is not installed.";
    CommandFailed Failed "A program ended with an error, or could not be started.";
    SecretUnresolved Failed "A secret that the tool needs has no value, so the tool was not started.";
    NoToolchain Failed "Nothing in the folder tells which toolchain to use.";
    ConfirmationInvalid Failed "The confirmation token is unknown, too old or made for something else.";
    ConnectionFailed Failed "The host could not be reached, or what it said was no answer.";
    HttpStatus Failed "The server answered with an error.";
    Timeout Failed "The call ran longer than it may.";
    Cancelled Failed "The caller cancelled the call.";
    IoError Failed "The operating system reported an error.";
    AuditUnavailable Failed "The record cannot be written, so nothing that needs one is done.";
    StateUnavailable Busy "The shared state cannot be reached, so nothing that needs it is done.";
    PostureBroken Failed "An attack of the self-test succeeded inside the cage, so nothing is served.";
    IsolationTooWeak Failed "This machine cannot enforce what the policy requires.";
    InternalError Internal "A fault of Vambrace; the detail is in the record under the call id.";
}

/// An error on its way to an agent. The text is not yet redacted.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    pub code: ErrorCode,
    pub message: String,
    pub suggestion: String,
    pub details: Option<Tree>,
    /// For denials: the rule that decided, and where it was set.
    pub rule: Option<String>,
}

impl ToolError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> ToolError {
        ToolError { code, message: message.into(), suggestion: String::new(), details: None, rule: None }
    }

    #[must_use]
    pub fn suggestion(mut self, suggestion: impl Into<String>) -> ToolError {
        self.suggestion = suggestion.into();
        self
    }

    #[must_use]
    pub fn details(mut self, details: Tree) -> ToolError {
        self.details = Some(details);
        self
    }

    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> ToolError {
        self.rule = Some(rule.into());
        self
    }

    pub fn family(&self) -> Family {
        self.code.family()
    }
}
