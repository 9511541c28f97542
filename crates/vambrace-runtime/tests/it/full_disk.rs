//! The record on a disk that fills up, down to a line that only half fits.

use serde_json::json;
use vambrace_types::ErrorCode;

use crate::child::play_on_small_files;
use crate::settings::Settings;
use crate::world::{World, code, demand_success};

#[test]
fn a_full_disk_stops_changes_and_leaves_no_half_line() {
    // Both readings of `ulimit -f` (blocks of 512 and of 1024 bytes) let some calls pass and not a hundred.
    play_on_small_files(40);
}

/// In the child: writes until the record refuses.
pub(crate) fn until_nothing_fits() {
    let world = World::new(Settings::default(), &json!({"a.txt": "start"}));
    let mut last = "start".to_owned();
    let mut n_refused = 0;
    for number in 0..200 {
        // Lines of different lengths, so that the end of the disk falls anywhere in one.
        let text = format!("{number} {}", "x".repeat(number * 7 % 113));
        let reply = world.call("write_file", json!({"path": "a.txt", "content": text}));
        match code(&reply) {
            None => last = text,
            Some(ErrorCode::AuditUnavailable) => n_refused += 1,
            Some(other) => panic!("{other:?}"),
        }
        assert_eq!(world.file("a.txt"), last, "a refused write changed the file, or a done one did not");
    }
    assert!((50..200).contains(&n_refused), "{n_refused}");
    let read = world.call("read_file", json!({"path": "a.txt"}));
    demand_success(&read);
    assert!(read.metadata().warnings.iter().any(|warning| warning.contains("failed to write audit log")));
    let audit = world.audit_folder();
    drop(world.corridor);
    let report = vambrace_audit::verify(&audit).unwrap();
    assert!(report.broken.is_none(), "{report:?}");
    assert!(report.open_intents.len() <= 1, "{report:?}");
}
