//! For tests: root may enter everything, so what is closed is closed by, and looked at as, somebody who may not.

/// On a thread of its own, which alone changes its user. Without root, whoever runs the tests is somebody already.
pub(crate) fn as_nobody(work: impl FnOnce() + Send) {
    let become_nobody = || {
        if rustix::process::getuid().is_root() {
            let nobody = rustix::process::Uid::from_raw(65_534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        }
        work();
    };
    std::thread::scope(|scope| scope.spawn(become_nobody).join().unwrap());
}
