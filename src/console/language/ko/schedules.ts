import { numberText, percentText } from "../number.ts";
import type { enSchedules } from "../en/schedules.ts";

const clockChange: (typeof enSchedules)["occurrences"]["clockChange"] = ({ what, clock, from, to, into }) => {
  if (what === "first" || what === "second")
    return `시계에 ${clock} 시각이 두 번 나옴: ${what === "first" ? "첫" : "두"} 번째`;
  if (what === "before") return `그 전에 시계가 바뀜(${from} → ${to})`;
  const ends = {
    skipped: "실행되지 않음",
    merged: `${into?.replace("T", " ") ?? ""} 시각과 함께 실행`,
    moved: `${into ?? ""}에 실행`,
  };
  return `시계가 ${clock} 시각을 건너뜀(${from} → ${to}): ${ends[what]}`;
};

const ofPlaces = (places: number): string => (places === Infinity ? "" : ` / ${numberText(places)}`);

export const koSchedules: typeof enSchedules = {
  schedules: {
    filter: "스케줄 필터",
    placeholder: "검색하거나 필터: state:failing kind:… zone:Asia/Seoul late:>5s",
    noneYet: "아직 스케줄이 없습니다",
    howToAdd: (define, file) => [file, " 폴더에 ", define, "을 더하고 저장하세요. 여기에 바로 나타납니다."],
    fields: {
      state: "active, failing, late, paused, off, ended",
      kind: "시작하는 종류",
      app: "속한 앱",
      zone: "시간대: Asia/Seoul",
      late: "마지막 시작이 이보다 늦음: late:>5s",
    },
    columns: { next: "다음", last: "최근 30번" },
    runNowOf: (id) => `지금 실행: ${id}`,
    states: {
      off: "이 스테이지에서 꺼짐",
      paused: "일시 중지됨",
      late: "늦음",
      failing: "실패 중",
      ended: "끝남",
      active: "활성",
    },
    since: (at) => [at, "부터"],
    sinceBefore: (at) => [at, " 이전부터"],
    noSuccess: "아직 성공 없음",
    lastSuccess: (at) => ["마지막 성공 ", at],
    pauseKey: "일시 중지 또는 재개",
    inZone: (zone) => `(${zone})`,
    starts: (kind) => [" → ", kind],
    version: (version, source) => `버전 ${version}, 출처 ${source}`,
    overlap: {
      allow: "겹쳐 실행될 수 있음",
      skip: "앞의 것이 실행 중이면 건너뜀",
      "queue-one": "앞의 것이 실행 중이면 하나가 기다림",
      "queue-all": "앞의 것이 실행 중이면 모두 차례로 기다림",
      "cancel-running": "앞의 것을 취소하고, 멈추면 가장 늦은 것이 시작",
    },
    misfire: { skip: "놓친 시각은 건너뜀", latest: "놓친 시각 중 마지막 것만 실행", all: "놓친 시각을 모두 실행" },
    objective: (of, durationText) => {
      const starts = of.onTimeMs === null ? [] : [`${durationText(of.onTimeMs)} 안에 시작`];
      const ends = of.endsWithinMs === null ? [] : [`${durationText(of.endsWithinMs)} 안에 완료`];
      const promise = `${durationText(of.overMs)} 동안 ${percentText(of.share)}가 ${[...starts, ...ends].join(", ")}`;
      const left = `여유 ${percentText(Math.max(0, of.left))} 남음`;
      return `목표: ${promise}. ${numberText(of.times)}번 중 ${numberText(of.missed)}번 놓침, ${left}.`;
    },
    onTimeOf: (share) => `정시 ${share}`,
    onTime: (share, lateness) => ` · 정시 ${share} · 지연 ${lateness}`,
    occurrences: "발생 건",
    last30: "최근 발생 건 30개",
    plannedAhead: (count) => `그중 ${numberText(count)}개는 미리 계획됨`,
    pauseText: "재개할 때까지 그 시각들은 “일시 중지” 이유로 건너뜁니다.",
    pause: "스케줄 일시 중지",
    startedOnce: (id) => `${id}: 한 번 시작했습니다`,
    saved: (id) => `${id}: 저장했습니다`,
    create: "새 스케줄",
    edit: "편집",
    remove: "삭제",
    removeQuestion: (id) => `${id}: 삭제할까요?`,
    removeText: "더는 실행되지 않습니다. 지난 시각의 기록은 남습니다.",
    removed: (id) => `${id}: 삭제했습니다`,
    form: {
      edit: (id) => `${id} 편집`,
      save: "스케줄 저장",
      id: "Id",
      forms: { cron: "Cron", every: "간격", at: "한 번" },
      hints: { cron: "분 시 일 월 요일", every: "90s, 15m, 2h", at: "2026-12-24T18:00:00+09:00" },
      zone: "시간대",
      overlap: "앞의 것이 실행 중일 때",
      misfire: "놓친 시각",
    },
    after: (id: string, within: string) => `${id} 다음 (${within} 안에 끝나면)`,
    every: (value, unit) => {
      const name = { ms: "밀리초", s: "초", m: "분", h: "시간", d: "일" }[unit] ?? unit;
      return `${value}${name}마다`;
    },
    everyDay: (text) => (/^\d\d:\d\d/.test(text) ? `매일 ${text}` : text),
  },
  occurrences: {
    clockChange,
    decisions: { PLANNED: "계획됨", FIRED: "실행", CAUGHT_UP: "따라잡음", COALESCED: "합쳐짐", SKIPPED: "건너뜀" },
    ends: {
      succeeded: "성공",
      failed: "실패",
      stopped: "취소 또는 건너뜀",
      open: "아직 끝나지 않음",
      unknown: "작업이 더는 보관되지 않음",
    },
    none: "아직 시각 없음",
    last: (count, ends) => `최근 ${count}개: ${ends}`,
    count: (count, word) => `${word} ${count}`,
    columns: { for: "명목 시각", decision: "결정", job: "작업" },
    noneCame: "아직 지난 시각이 없습니다. 각 시각이 어떻게 되었는지 여기에 나옵니다.",
    past: "지난 시각",
    next: "다음 시각",
    excluded: (calendar, movedTo) =>
      `${calendar}: ${movedTo === null ? "실행되지 않음" : `${movedTo.replace("T", " ")}(으)로 옮김`}`,
    pausedSkipped: "일시 중지됨: 건너뜁니다",
    hasEnded: "끝났습니다",
    in: (zone) => `${zone} 기준`,
    inYours: (zone) => `내 시간대(${zone}) 기준`,
    fromNow: "지금부터",
  },
  heat: {
    title: "지난 몇 주의 시각",
    day: "날짜",
    nothing: "시작하지 않음",
    late: (count, most) => `${numberText(count)}건 지연, 최대 ${most}`,
    how: "칸의 색은 가장 나쁜 결과이고, 늦은 것이 있으면 위에 막대가 있습니다. Enter나 클릭으로 그 시각들을 봅니다.",
    isMore: "가장 새로운 20,160개의 시각입니다. 칸의 색은 가장 나쁜 결과이고, Enter나 클릭으로 그 시각들을 봅니다.",
  },
  backfill: {
    title: "백필",
    about: "한 구간에서 실행되지 않은 시각을 실행합니다. 미리 보기는 각각을 보여 주며 아무것도 바꾸지 않습니다.",
    inZone: (zone) => `${zone} 시각`,
    from: "시작",
    to: "끝",
    preview: "미리 보기",
    text: "스스로 오는 시각과 나란히, 하나씩 차례로 실행됩니다.",
    action: (count) => `시각 ${numberText(count)}개 백필`,
    refused: "백필이 거부되었습니다",
    planned: (count) => `시각 ${numberText(count)}개를 계획했습니다`,
    willRun: (was) => `실행됨, 전에는 ${was}`,
    stays: (was) => `그대로 ${was}`,
    none: "이 구간에는 스케줄의 시각이 없습니다",
  },
  whyTime: {
    title: "한 시각의 결과",
    label: (zone) => `${zone} 기준 이 시각에 왜 실행되었나요, 또는 왜 실행되지 않았나요?`,
    ask: "설명 보기",
    unknown: "이 시각은 설명할 수 없습니다",
  },
  upcoming: {
    spans: { 1: "다음 1시간", 6: "6시간", 24: "24시간" },
    nothing: "이 기간에는 예정된 것이 없습니다",
    longer: "더 긴 기간을 고르거나 스케줄을 보세요.",
    timeLine: "시간선",
    times: (count, isMore) => `시각 ${numberText(count)}개${isMore ? " 이상" : ""}`,
    loadToCome: "다가올 부하",
    atOnce: (most, places) => `동시에 최대 ${numberText(most)}개${ofPlaces(places)}`,
    ofLane: (lane, jobs, places) => `${lane} ${numberText(jobs)}개${ofPlaces(places)}`,
    how: "이 기간의 작업 가운데 동시에 실행되거나 대기하는 것입니다. 이미 대기 중인 것은 세지 않습니다. 선은 이 레인들이 동시에 실행하는 수입니다. 누르면 그때 시작되는 것이 나옵니다.",
    over: "레인 용량 초과",
    fits: "이 기간에 예정된 것이 동시에 실행할 수 있는 수를 넘는다고 알려진 레인이 없습니다. 이미 대기 중인 것은 세지 않습니다.",
    pilesUp: (lane, over, places, wait) =>
      `${lane} 레인은 동시에 ${numberText(places)}개를 실행합니다. ${numberText(over)}개가 더 대기하며 최대 ${wait} 걸립니다. `,
    others: (count) => `다른 레인 ${numberText(count)}개`,
    all: "모든 시각",
    notListed: "가장 가까운 스케줄 시각 200개 가운데 여기에 해당하는 것이 없습니다",
    columns: { in: "남은 시간", risk: "위험", times: "시각", work: "작업량", share: "용량 대비" },
    paused: "일시 중지됨: 건너뜁니다",
    spreadFrom: "분산 전:",
    mayOverlap: "앞의 것이 아직 끝나지 않음",
    capped: "그때 종류의 상한이 다 참",
    app: "앱",
    allApps: "모든 앱",
    allLanes: "모든 레인",
    due: "시각을 기다리는 작업",
    dueAbout: "지연, 재시도 또는 미리 기록된 작업: 레인이 멈추면 이들도 늦어집니다",
    firstDue: "처음 예정",
    lastDue: "마지막 예정",
    load: "예상 작업량",
    unknown: (count) => `길이를 모르는 것 ${numberText(count)}개`,
  },
};
