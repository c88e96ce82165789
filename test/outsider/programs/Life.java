// The life of a job, a run and a schedule by the client that openapi-generator generates for Java.
import belfry.ApiClient;
import belfry.ApiException;
import belfry.api.*;
import belfry.model.*;
import java.util.Map;
import java.util.function.BooleanSupplier;

class Life {
  interface Call<T> { T send() throws ApiException; }

  static <T> T must(Call<T> call) {
    try {
      return call.send();
    } catch (ApiException problem) {
      throw new IllegalStateException(problem.getResponseBody(), problem);
    }
  }

  static void refused(int status, Call<?> call) {
    try {
      throw new IllegalStateException("not refused: " + call.send());
    } catch (ApiException problem) {
      if (problem.getCode() != status) throw new IllegalStateException(problem);
    }
  }

  static void until(String what, BooleanSupplier isSo) throws InterruptedException {
    for (long end = System.currentTimeMillis() + 60_000; !isSo.getAsBoolean(); Thread.sleep(50))
      if (System.currentTimeMillis() > end) throw new IllegalStateException(what);
  }

  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("BELFRY_URL"));
    var jobs = new JobsApi(client);
    var runs = new RunsApi(client);
    var schedules = new SchedulesApi(client);
    var name = "java-" + System.nanoTime();

    var hello = new NewJob(new NewJobHello().kind(NewJobHello.KindEnum.HELLO).delay("1h"));
    var id = must(() -> jobs.createJob(hello, name)).getId();
    if (!must(() -> jobs.createJob(hello, name)).getId().equals(id)) throw new IllegalStateException("two jobs");
    must(() -> jobs.runJobNow(id));
    until("no success", () -> must(() -> jobs.getJob(id, null)).getState() == JobDetail.StateEnum.SUCCESS);
    refused(404, () -> jobs.getJob("999999999", null));

    var starter = must(() -> jobs.createJob(new NewJob(new NewJobSteps().kind(NewJobSteps.KindEnum.STEPS)), null)).getId();
    var found = new Run[1];
    until("no run starts", () -> must(() -> runs.listRuns("steps", null, null, null, null, null, null, null)).getRuns().stream()
        .anyMatch(run -> starter.equals((found[0] = run).getStarter())));
    must(() -> runs.signalRun(found[0].getId(), "approved", new SignalRunRequest().payload(Map.of("by", "ada"))));
    must(() -> runs.cancelRun(found[0].getId()));

    var nightly = new NewScheduleHello().id(name).kind(NewScheduleHello.KindEnum.HELLO).cron("0 3 * * *").timezone("UTC");
    must(() -> schedules.createSchedule(new NewSchedule(nightly)));
    var patch = new PatchScheduleRequest().cron("0 4 * * *");
    refused(412, () -> schedules.patchSchedule(name, "\"99\"", patch));
    if (must(() -> schedules.patchSchedule(name, null, patch)).getVersion() != 2) throw new IllegalStateException("version");
    must(() -> schedules.triggerSchedule(name, null, new TriggerScheduleRequest()));
    must(() -> schedules.deleteSchedule(name, null));
    System.out.println("its life is over");
  }
}
