// The life of a job, a run and a schedule by the client that ogen generates.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	api "outside/api"
)

// is ends the program where the answer is not the one that is named.
func is[T any](answer any, err error) T {
	wanted, ok := answer.(T)
	if err != nil || !ok {
		log.Fatalf("%T %+v %v", answer, answer, err)
	}
	return wanted
}

func until(what string, isSo func() bool) {
	for end := time.Now().Add(time.Minute); !isSo(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			log.Fatal(what)
		}
	}
}

func main() {
	ctx := context.Background()
	client, err := api.NewClient(os.Getenv("BELFRY_URL"))
	if err != nil {
		log.Fatal(err)
	}
	name := fmt.Sprint("ogen-", time.Now().UnixNano())

	hello := api.NewNewJobHelloNewJob(api.NewJobHello{Kind: api.NewJobHelloKindHello, Delay: api.NewOptString("1h")})
	key := api.CreateJobParams{IdempotencyKey: api.NewOptString(name)}
	job := is[*api.CreateJobCreatedHeaders](client.CreateJob(ctx, hello, key)).Response
	if again := is[*api.CreatedJobHeaders](client.CreateJob(ctx, hello, key)); again.Response.ID != job.ID || again.IdempotencyReplayed.Value != "true" {
		log.Fatalf("%+v", again)
	}
	is[*api.JobDetailHeaders](client.RunJobNow(ctx, api.RunJobNowParams{ID: job.ID}))
	until("the job does not succeed", func() bool {
		return is[*api.JobDetailHeaders](client.GetJob(ctx, api.GetJobParams{ID: job.ID})).Response.State == api.JobDetailStateSUCCESS
	})
	is[*api.GetJobNotFoundHeaders](client.GetJob(ctx, api.GetJobParams{ID: "999999999"}))

	steps := api.NewNewJobStepsNewJob(api.NewJobSteps{Kind: api.NewJobStepsKindSteps})
	starter := is[*api.CreateJobCreatedHeaders](client.CreateJob(ctx, steps, api.CreateJobParams{})).Response
	var run api.Run
	until("no run starts", func() bool {
		for _, run = range is[*api.RunListHeaders](client.ListRuns(ctx, api.ListRunsParams{Kind: api.NewOptString("steps")})).Response.Runs {
			if run.Starter.Value == starter.ID {
				return true
			}
		}
		return false
	})
	signal := api.NewOptSignalRunReq(api.SignalRunReq{Payload: []byte(`{"by":"ada"}`)})
	is[*api.SignaledRunHeaders](client.SignalRun(ctx, signal, api.SignalRunParams{ID: run.ID, Name: "approved"}))
	if _, err := client.CancelRun(ctx, api.CancelRunParams{ID: run.ID}); err != nil {
		log.Fatal(err)
	}

	nightly := api.NewNewScheduleHelloNewSchedule(api.NewScheduleHello{ID: name, Kind: api.NewScheduleHelloKindHello, Cron: api.NewOptString("0 3 * * *"), Timezone: api.NewOptString("UTC")})
	made := is[*api.ScheduleHeaders](client.CreateSchedule(ctx, nightly)).Response
	patch := api.NewOptPatchScheduleReq(api.PatchScheduleReq{Cron: api.NewOptString("0 4 * * *")})
	stale := api.PatchScheduleParams{ID: made.ID, IfMatch: api.NewOptString(`"99"`)}
	is[*api.PatchSchedulePreconditionFailedHeaders](client.PatchSchedule(ctx, patch, stale))
	is[*api.ReplaceScheduleOKHeaders](client.PatchSchedule(ctx, patch, api.PatchScheduleParams{ID: made.ID}))
	is[*api.TriggerScheduleCreatedHeaders](client.TriggerSchedule(ctx, api.OptTriggerScheduleReq{}, api.TriggerScheduleParams{ID: made.ID}))
	is[*api.DeletedScheduleHeaders](client.DeleteSchedule(ctx, api.DeleteScheduleParams{ID: made.ID}))
	fmt.Println("its life is over")
}
