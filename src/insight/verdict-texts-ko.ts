import type { TimeVerdict } from "./explanation.ts";

/** What became of a time, in Korean: `{time}` is its reading, `{reason}` why it was skipped. */
export const koreanVerdicts: Readonly<Record<TimeVerdict, string>> = {
  ran: "{time}: 실행되었습니다",
  failed: "{time}: 실행되었고 실패했습니다. 원인을 고친 뒤 재시도하세요",
  running: "{time}: 실행 중입니다",
  canceled: "{time}: 시작된 뒤 취소되었거나 건너뛰었습니다",
  retrying: "{time}: 실패했고 다시 시도합니다",
  planned: "{time}: 계획되어 있습니다",
  "planned-paused": "{time}: 계획되어 있지만 스케줄이 일시 중지되어, 재개하지 않으면 건너뜁니다",
  prematerialized: "{time}: 아직 오지 않았습니다. 그때 실행할 작업은 미리 만들어져 있습니다",
  "prematerialized-paused": "{time}: 아직 오지 않았습니다. 스케줄이 일시 중지되어, 재개하지 않으면 실행되지 않습니다",
  "waiting-for-slot": "{time}: 아직 실행되지 않았습니다. 작업이 빈 슬롯을 기다립니다",
  "waiting-for-worker": "{time}: 아직 실행되지 않았습니다. 작업을 받은 워커가 없습니다",
  "waits-for-schedule": "{time}: 따르는 스케줄의 시각이 끝나기를 기다립니다",
  coalesced: "{time}: 다른 시각과 합쳐졌습니다",
  skipped: "{time}: 건너뛰었습니다. {reason}",
  disabled: "{time}: 실행되지 않았습니다. 이 스테이지에서 스케줄이 꺼져 있었습니다",
  "not-due": "{time}: 아직 오지 않았습니다",
  deleted: "{time}: 실행되지 않았습니다. 스케줄이 삭제되어 있었습니다",
  undecided: "{time}: 지났지만 아직 결정되지 않았습니다. 스케줄러가 그 뒤로 돌지 않았습니다",
  "not-in-force": "{time}: 결정되기 전에 스케줄이 바뀌었습니다",
  "before-schedule": "{time}: 실행되지 않았습니다. 스케줄이 아직 없었습니다",
  "never-nominal": "{time}: 이 스케줄의 시각이 아닙니다",
};
