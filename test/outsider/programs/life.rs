// The life of a job, a run and a schedule by the client that openapi-generator generates for Rust.
use belfry_client::apis::{configuration::Configuration, jobs_api, runs_api, schedules_api, Error};
use belfry_client::models::*;
use std::{env, thread, time::{Duration, Instant, SystemTime}};

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn refused<T, E>(status: u16, answer: Result<T, Error<E>>) {
    assert!(matches!(answer, Err(Error::ResponseError(problem)) if problem.status.as_u16() == status), "not {status}");
}

fn main() {
    let mut at = Configuration::new();
    at.base_path = env::var("BELFRY_URL").unwrap();
    let name = format!("rust-{}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos());

    let mut hello = NewJobHello::new(new_job_hello::Kind::Hello);
    hello.delay = Some("1h".into());
    let hello = NewJob::NewJobHello(Box::new(hello));
    let job = jobs_api::create_job(&at, hello.clone(), Some(&name)).unwrap();
    assert_eq!(jobs_api::create_job(&at, hello, Some(&name)).unwrap().id, job.id);
    jobs_api::run_job_now(&at, &job.id).unwrap();
    until("no success", || jobs_api::get_job(&at, &job.id, None).unwrap().state == job_detail::State::Success);
    refused(404, jobs_api::get_job(&at, "999999999", None));

    let steps = NewJob::NewJobSteps(Box::new(NewJobSteps::new(new_job_steps::Kind::Steps)));
    let starter = jobs_api::create_job(&at, steps, None).unwrap().id;
    let mut run = None;
    until("no run starts", || {
        let list = runs_api::list_runs(&at, Some("steps"), None, None, None, None, None, None, None).unwrap();
        run = list.runs.into_iter().find(|each| each.starter.as_ref() == Some(&starter));
        run.is_some()
    });
    let id = run.unwrap().id;
    let signal = SignalRunRequest { payload: Some(Some(serde_json::json!({ "by": "ada" }))) };
    runs_api::signal_run(&at, &id, "approved", Some(signal)).unwrap();
    runs_api::cancel_run(&at, &id).unwrap();

    let mut schedule = NewScheduleHello::new(new_schedule_hello::Kind::Hello, name.clone());
    schedule.cron = Some("0 3 * * *".into());
    schedule.timezone = Some("UTC".into());
    schedules_api::create_schedule(&at, NewSchedule::NewScheduleHello(Box::new(schedule))).unwrap();
    let patch = PatchScheduleRequest { cron: Some("0 4 * * *".into()), ..Default::default() };
    refused(412, schedules_api::patch_schedule(&at, &name, Some("\"99\""), Some(patch.clone())));
    assert_eq!(schedules_api::patch_schedule(&at, &name, None, Some(patch)).unwrap().version, 2);
    schedules_api::trigger_schedule(&at, &name, None, Some(TriggerScheduleRequest::new())).unwrap();
    schedules_api::delete_schedule(&at, &name, None).unwrap();
    println!("its life is over");
}
