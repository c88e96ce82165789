// The life of a job, a run and a schedule by the client that oapi-codegen generates.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"outside/api"
)

func must[T any](answer T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return answer
}

func is(found bool, what any) {
	if !found {
		log.Fatalf("%+v", what)
	}
}

func until(what string, isSo func() bool) {
	for end := time.Now().Add(time.Minute); !isSo(); time.Sleep(50 * time.Millisecond) {
		is(time.Now().Before(end), what)
	}
}

func main() {
	ctx := context.Background()
	client := must(api.NewClientWithResponses(os.Getenv("BELFRY_URL")))
	name, hour, cron, later, zone, stale := fmt.Sprint("oapi-", time.Now().UnixNano()), "1h", "0 3 * * *", "0 4 * * *", "UTC", `"99"`

	var hello, steps api.NewJob
	is(hello.FromNewJobHello(api.NewJobHello{Kind: "hello", Delay: &hour}) == nil, hello)
	is(steps.FromNewJobSteps(api.NewJobSteps{Kind: "steps"}) == nil, steps)
	key := &api.CreateJobParams{IdempotencyKey: &name}
	job := must(client.CreateJobWithResponse(ctx, key, hello))
	is(job.JSON201 != nil, string(job.Body))
	again := must(client.CreateJobWithResponse(ctx, key, hello))
	is(again.JSON200 != nil && again.JSON200.Id == job.JSON201.Id, string(again.Body))
	is(must(client.RunJobNowWithResponse(ctx, job.JSON201.Id)).JSON200 != nil, "run now")
	until("the job does not succeed", func() bool {
		return must(client.GetJobWithResponse(ctx, job.JSON201.Id, &api.GetJobParams{})).JSON200.State == api.JobDetailStateSUCCESS
	})
	is(must(client.GetJobWithResponse(ctx, "999999999", &api.GetJobParams{})).ApplicationproblemJSON404 != nil, "404")

	starter := must(client.CreateJobWithResponse(ctx, &api.CreateJobParams{}, steps))
	kind, run := "steps", api.Run{}
	until("no run starts", func() bool {
		for _, run = range must(client.ListRunsWithResponse(ctx, &api.ListRunsParams{Kind: &kind})).JSON200.Runs {
			if run.Starter != nil && *run.Starter == starter.JSON201.Id {
				return true
			}
		}
		return false
	})
	var by any = map[string]string{"by": "ada"}
	is(must(client.SignalRunWithResponse(ctx, run.Id, "approved", api.SignalRunJSONRequestBody{Payload: &by})).JSON200 != nil, "signal")
	is(must(client.CancelRunWithResponse(ctx, run.Id)).StatusCode() < 300, "cancel")

	var nightly api.NewSchedule
	is(nightly.FromNewScheduleHello(api.NewScheduleHello{Id: name, Kind: "hello", Cron: &cron, Timezone: &zone}) == nil, nightly)
	made := must(client.CreateScheduleWithResponse(ctx, nightly))
	is(made.JSON201 != nil, string(made.Body))
	patch := api.PatchScheduleJSONRequestBody{Cron: &later}
	is(must(client.PatchScheduleWithResponse(ctx, name, &api.PatchScheduleParams{IfMatch: &stale}, patch)).ApplicationproblemJSON412 != nil, "412")
	is(must(client.PatchScheduleWithResponse(ctx, name, &api.PatchScheduleParams{}, patch)).JSON200.Version == 2, "version")
	is(must(client.TriggerScheduleWithResponse(ctx, name, &api.TriggerScheduleParams{}, api.TriggerScheduleJSONRequestBody{})).JSON201 != nil, "trigger")
	is(must(client.DeleteScheduleWithResponse(ctx, name, &api.DeleteScheduleParams{})).JSON200 != nil, "delete")
	fmt.Println("its life is over")
}
