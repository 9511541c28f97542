//! The threads that carry connections, one for each core. A connection stays with its thread: short calls are walked where
//! they came in, and no other thread has to be woken, waited for or told. What takes longer than a short call is done
//! elsewhere, by the runtime that the corridor lives on.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle, available_parallelism};

use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// LIMIT: more would wait for each other at the record, of which there is one.
const MOST: usize = 16;

pub(super) struct Carriers {
    all: Vec<Carrier>,
    /// The threads end when it is dropped.
    ending: DropGuard,
}

struct Carrier {
    runtime: Handle,
    /// Connections that it has.
    load: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

/// One connection of a carrier's, until it is dropped.
struct Load(Arc<AtomicUsize>);

impl Load {
    fn on(carrier: &Carrier) -> Load {
        carrier.load.fetch_add(1, Ordering::Relaxed);
        Load(Arc::clone(&carrier.load))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Carriers {
    /// One for each core.
    pub(super) fn start() -> Carriers {
        Carriers::start_some(available_parallelism().map_or(1, usize::from).min(MOST))
    }

    /// As many as can be started; without any, whoever accepts carries.
    fn start_some(wanted: usize) -> Carriers {
        let ending = CancellationToken::new();
        let all = (0..wanted).map_while(|_| Carrier::start(ending.clone()).ok()).collect();
        Carriers { all, ending: ending.drop_guard() }
    }

    /// Gives the connection to whoever has the fewest.
    pub(super) fn carry<F>(
        &self,
        connections: &TaskTracker,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(carrier) = self.all.iter().min_by_key(|carrier| carrier.load.load(Ordering::Relaxed)) else {
            connections.spawn(serve(stream));
            return;
        };
        let load = Load::on(carrier);
        // What fails here is a connection that is lost already.
        let Ok(stream) = stream.into_std() else { return };
        let carried = async move {
            let _load = load;
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream).await;
            }
        };
        connections.spawn_on(carried, &carrier.runtime);
    }

    /// Returns when the threads have ended. Their tasks are gone by then, whether or not they were done.
    pub(super) async fn end(self) {
        drop(self.ending);
        let threads = self.all.into_iter().map(|carrier| carrier.thread);
        let joined = tokio::task::spawn_blocking(move || threads.for_each(|thread| drop(thread.join())));
        let _ = joined.await;
    }
}

impl Carrier {
    fn start(ending: CancellationToken) -> io::Result<Carrier> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let carry = move || {
            runtime.block_on(ending.cancelled());
            // A wait in the system that does not end is not waited for.
            runtime.shutdown_background();
        };
        let thread = Builder::new().name("carrier".to_owned()).spawn(carry)?;
        Ok(Carrier { runtime: handle, load: Arc::default(), thread })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::thread::ThreadId;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;

    /// So many connections that stay, over so many carriers: how many each thread has, the most first.
    async fn spread(n_carriers: usize, n_connections: usize) -> Vec<usize> {
        let carriers = Carriers::start_some(n_carriers);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, (told, mut heard)) = (TaskTracker::new(), mpsc::unbounded_channel());
        let mut clients = Vec::new();
        for _ in 0..n_connections {
            #[expect(clippy::disallowed_methods, reason = "to the listener of this test")]
            let client = tokio::spawn(TcpStream::connect(address));
            let (stream, _) = listener.accept().await.unwrap();
            clients.push(client.await.unwrap().unwrap());
            let told = told.clone();
            carriers.carry(&connections, stream, async move |mut stream: TcpStream| {
                told.send(std::thread::current().id()).unwrap();
                let mut byte = [0];
                stream.read_exact(&mut byte).await.unwrap();
                stream.write_all(&byte).await.unwrap();
            });
        }
        let mut by_thread: HashMap<ThreadId, usize> = HashMap::new();
        for _ in 0..n_connections {
            *by_thread.entry(heard.recv().await.unwrap()).or_default() += 1;
        }
        for mut client in clients {
            client.write_all(b"x").await.unwrap();
            assert_eq!(client.read_u8().await.unwrap(), b'x');
        }
        connections.close();
        connections.wait().await;
        assert!(carriers.all.iter().all(|carrier| carrier.load.load(Ordering::Relaxed) == 0));
        carriers.end().await;
        let mut spread: Vec<_> = by_thread.into_values().collect();
        spread.sort_unstable_by(|one, other| other.cmp(one));
        spread
    }

    #[tokio::test]
    async fn each_connection_goes_to_whoever_has_the_fewest() {
        assert_eq!(spread(2, 8).await, [4, 4]);
        assert_eq!(spread(3, 7).await, [3, 2, 2]);
        assert_eq!(spread(1, 3).await, [3]);
    }

    #[tokio::test]
    async fn without_threads_of_their_own_connections_are_carried_all_the_same() {
        assert_eq!(spread(0, 3).await, [3]);
    }
}
