//! What is on disk stays, and what does not fit is refused.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::error::Error;

#[test]
fn reopening_keeps_everything() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let url = on_disk(directory.path());
        let store = open(&url).await;
        let (account, site) = with_site(&store).await;
        let run = ssl_run(&store, &account, &site, noon(), vec![changed("f1")]).await;
        store.count_call(account.id, "2026-11", 10).await.unwrap();
        let lease = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        let before = rows(&store).await;
        store.close().await.unwrap();
        drop(store);

        let store = open(&url).await;
        assert_eq!(rows(&store).await, before);
        assert_eq!(only(store.listed_sites(account.id).await.unwrap().1), bare(&site));
        assert_eq!(store.calls_so_far(account.id, "2026-11").await.unwrap().used, 1);
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(context.state, run.state);
        assert_eq!(context.open, run.raised);
        assert!(store.lease_due("b", &[ssl()], noon(), LEASE, 9).await.unwrap().is_empty());
        let taken =
            only(store.lease_due("b", &[ssl()], noon() + seconds(61), LEASE, 9).await.unwrap());
        assert_eq!(taken.epoch, lease.epoch + 1);
        store.close().await.unwrap();
    });
}

/// A database may go on reading when it can write no more.
#[test]
fn database_that_failed_at_the_last_unit_of_work_refuses_writes_and_one_that_said_no_does_not() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&on_disk(directory.path())).await;
        let account = signed_up(&store).await;
        assert!(!store.refuses_writes());
        store.write("THROW 'stale'", crate::tx::Binds::new()).await.unwrap_err();
        assert!(!store.refuses_writes(), "it was asked to");
        store.write("CREATE account:1 SET email = 5", crate::tx::Binds::new()).await.unwrap_err();
        assert!(store.refuses_writes());
        store.count_call(account.id, "2026-11", 10).await.unwrap();
        assert!(!store.refuses_writes(), "it goes on");
        store.close().await.unwrap();
    });
}

#[test]
fn what_was_answered_is_on_disk_without_a_goodbye() {
    let directory = tempfile::tempdir().unwrap();
    let url = on_disk(directory.path());
    let copy = tempfile::tempdir().unwrap();
    let account = runtime().block_on(async {
        let store = open(&url).await;
        let (account, _) = with_site(&store).await;
        for _ in 0..5 {
            store.count_call(account.id, "2026-11", 10).await.unwrap();
        }
        // What a crash would leave: the files as they are now.
        copy_files(directory.path(), copy.path());
        account
    });
    runtime().block_on(async {
        let store = open(&on_disk(copy.path())).await;
        assert_eq!(store.calls_so_far(account.id, "2026-11").await.unwrap().used, 5);
        assert_eq!(store.listed_sites(account.id).await.unwrap().1.len(), 1);
        store.close().await.unwrap();
    });
}

#[test]
fn a_database_whose_files_were_lost_is_not_begun_anew() {
    let directory = tempfile::tempdir().unwrap();
    let url = on_disk(directory.path());
    runtime().block_on(async {
        let store = open(&url).await;
        with_site(&store).await;
        store.close().await.unwrap();
    });
    let mut mark = None;
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("in-use") {
            mark = Some(path);
        } else if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
    let mark = mark.expect("it says that there was a database");
    // Nor at the next attempt.
    for _ in 0..2 {
        runtime().block_on(async {
            let refused = Store::open(&url, options()).await;
            let Err(Error::Lost(named)) = refused else { panic!("{refused:?}") };
            assert_eq!(named, mark.display().to_string());
        });
    }
    std::fs::remove_file(&mark).unwrap();
    runtime().block_on(async {
        let store = open(&url).await;
        assert!(!store.any_account().await.unwrap(), "as whoever removed it has decided");
        store.close().await.unwrap();
    });
}

#[test]
fn addresses_that_name_no_store_are_refused() {
    runtime().block_on(async {
        for url in
            ["", "file:///tmp/x", "rocksdb://x", "http://u:p@localhost:8000", "ws://localhost"]
        {
            let refused = Store::open(url, options()).await;
            assert!(matches!(refused, Err(Error::Address(_))), "{url}: {refused:?}");
        }
    });
}

#[test]
fn a_server_that_does_not_answer_is_unavailable() {
    runtime().block_on(async {
        // A port that the system gives to nobody.
        let refused = Store::open("ws://u:hunter2@127.0.0.1:1", options()).await.unwrap_err();
        assert!(matches!(refused, Error::Unavailable(_)), "{refused:?}");
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
    });
}

#[test]
fn a_folder_is_made_for_its_owner_alone_and_opened_once() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("new/db");
    let url = on_disk(&folder);
    runtime().block_on(async {
        let store = open(&url).await;
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let refused = Store::open(&url, options()).await.unwrap_err();
        assert!(matches!(refused, Error::Address(_)), "{refused:?}");
        assert!(refused.to_string().contains("another process has it open"), "{refused}");
        store.close().await.unwrap();
    });
}

fn copy_files(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_files(&entry.path(), &target);
        } else if entry.file_name() != "LOCK" {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_open_database_holds_no_files_of_other_processes() {
    on_embedded(|store| async move {
        signed_up(&store).await;
        let held = || -> BTreeSet<_> {
            std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
                .filter(|file| file.starts_with("/proc") && file.ends_with("stat"))
                .collect()
        };
        // It looks at its own process for a moment now and then.
        let own = std::path::PathBuf::from(format!("/proc/{}/stat", std::process::id()));
        let others: BTreeSet<_> = held().into_iter().filter(|file| *file != own).collect();
        assert!(others.is_empty(), "{others:?}");
    });
}
