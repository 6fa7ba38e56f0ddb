//! `vedette health …`: what a probe learns of a running service.

use vedette_tests::program;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_learns_whether_the_service_is_there() {
    let World { mut service, .. } = World::start().await;
    let admin = format!("http://{}", service.admin);
    let ask = async |flags: &[&str]| {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.arg("health").args(flags).args(["--admin", &admin]);
        let ran = command.output().await.expect("it runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    assert_eq!(ask(&[]).await, (Some(0), "ok\n".to_owned()));
    assert_eq!(ask(&["--ready"]).await, (Some(0), "ready\n".to_owned()));
    service.stop().await.expect("it stops");
    assert_eq!(ask(&[]).await, (Some(1), String::new()));
}
