import { numberText, type Count } from "../number.ts";
import type { Words } from "../en/index.ts";

const many: Words["many"] = {
  job: (value) => `작업 ${numberText(value)}개`,
  task: (value) => `태스크 ${numberText(value)}개`,
  time: (value) => `시각 ${numberText(value)}개`,
  moreTimes: (value) => `그 밖에 ${numberText(value)}개`,
  schedule: (value) => `스케줄 ${numberText(value)}개`,
  deadLetter: (value) => `데드 레터 ${numberText(value)}개`,
  cause: (value) => `다른 원인 ${numberText(value)}가지`,
  more: (value) => `외 ${numberText(value)}개`,
};

const states: Words["states"] = {
  PENDING: "대기",
  QUEUED: "큐에 있음",
  RUNNING: "실행 중",
  RETRY_WAIT: "재시도 대기",
  SUCCESS: "성공",
  FAILED: "실패",
  CANCELED: "취소됨",
  SKIPPED: "건너뜀",
};

const stateMeanings: Words["stateMeanings"] = {
  PENDING: "시각, 선행 작업 또는 슬롯을 기다립니다",
  QUEUED: "메시지가 워커로 가는 중입니다",
  RUNNING: "워커가 클레임했습니다",
  RETRY_WAIT: "시도가 실패했고 다음 시도의 시각이 정해졌습니다",
  SUCCESS: "끝났습니다",
  FAILED: "시도를 다 썼거나 완전히 거부되었습니다. 확인이 필요합니다",
  CANCELED: "끝나기 전에 취소되었습니다",
  SKIPPED: "실행하지 않기로 했고 이유가 적혀 있습니다",
};

const phases: Words["phases"] = {
  scheduled: "예약됨",
  retrying: "재시도 대기",
  waiting: "대기 중",
  slot: "보류: 슬롯",
  paused: "보류: 중지",
  predecessors: "보류: 선행",
};

const reasons: Words["reasons"] = {
  "lock-held": "다른 작업이 락을 잡고 있었음",
  overlap: "앞의 작업이 아직 실행 중이었음",
  replaced: "뒤의 시각이 이것을 대신함",
  paused: "스케줄이 일시 중지되어 있었음",
  expired: "시각이 이미 지났음",
  "not taken": "분기가 선택되지 않음",
  "no longer wanted": "더는 필요하지 않았음",
  "dst-gap": "시계가 이 시각을 건너뜀",
  excluded: "달력에서 제외된 날",
  withdrawn: "스케줄이 바뀌었음",
  permanent: "완전히 거부됨",
  "attempts used up": "남은 시도가 없었음",
  ambiguous: "외부 효과가 일어났는지 알 수 없음",
  undeliverable: "어느 워커도 메시지를 받지 않았음",
  unsettleable: "결과를 기록할 수 없었음",
  "never started": "태스크가 시작되지 않았음",
  postponed: "아직 계속할 수 없었음",
  retry: "실패했고 다시 시도함",
  interrupted: "워커가 멈췄거나 사라짐",
  stopped: "워커가 멈췄음",
  "task stopped": "태스크가 멈췄음",
  slot: "빈 슬롯이 없었음",
  "message-lost": "메시지가 사라져 다시 보냄",
  "run now": "사람이 바로 실행하게 함",
  resumed: "실패한 곳부터 실행을 이어 감",
  "circuit open": "호출 대상이 내려가 있었음",
  signal: "시그널이 도착함",
  canceled: "사람이 취소함",
  disabled: "스케줄이 꺼져 있었음",
  deleted: "스케줄이 삭제되었음",
  payload: "페이로드를 만들 수 없었음",
  "no-job": "그 버전이 더는 정의되어 있지 않음",
  misfire: "놓쳤고 따라잡지 않음",
};
const mergedInto: Words["mergedInto"] = (day, clock) => `${day} ${clock}의 것과 합쳐짐`;

const time: Words["time"] = {
  modes: { utc: "UTC", mine: "내 시간대", schedule: "스케줄의 시간대", relative: "상대 시간" },
  howWritten: "시간 표기",
  badClock: (text) => `“${text}”: 날짜와 24시간 시각을 2026-11-21 08:00처럼 쓰세요`,
  units: { ms: "ms", s: "초", min: "분", h: "시간", d: "일" },
  now: "지금",
  ago: (duration) => `${duration} 전`,
  later: (duration) => `${duration} 후`,
  day: (month, day) => `${month} ${day}일`,
  ofYear: (day, year) => `${year}년 ${day}`,
};

const places: Words["places"] = {
  overview: "개요",
  jobs: "작업",
  schedules: "스케줄",
  upcoming: "예정",
  kinds: "종류",
  runs: "실행",
  deadLetters: "데드 레터",
  lanes: "레인과 워커",
  activity: "활동",
  locks: "락",
};

const labels: Words["labels"] = {
  at: "시각",
  all: "전체",
  attempts: "시도",
  due: "예정 시각",
  ended: "끝",
  error: "오류",
  failed: "실패",
  jobs: "작업",
  key: "키",
  kind: "종류",
  lane: "레인",
  lateness: "지연",
  payload: "페이로드",
  progress: "진행",
  run: "실행",
  schedule: "스케줄",
  state: "상태",
  took: "걸린 시간",
  when: "언제",
  why: "이유",
  worker: "워커",
};

const shell: Words["shell"] = {
  skip: "본문으로 건너뛰기",
  console: "콘솔",
  connection: { connecting: "연결 중", live: "실시간", stale: "오래됨", paused: "멈춤" },
  neverHeard: "실시간 연결이 없습니다. 보이는 내용이 오래되었을 수 있습니다. 다시 연결하는 중…",
  lastHeard: (ago) =>
    `실시간 연결이 끊겼습니다(마지막 수신 ${ago}). 보이는 내용이 오래되었을 수 있습니다. 다시 연결하는 중…`,
  rejectedSave: (file) => `${file}: 저장한 코드를 쓸 수 없습니다. 이전 코드가 계속 실행됩니다.`,
  keyboard: "키보드",
  keyboardKey: "키보드: ?",
  keyboardShortcuts: "키보드 단축키",
  singleKeys: "한 글자 단축키 (Tab, Enter, Escape는 항상 작동)",
  showList: "이 목록 보기",
  goTo: (place) => `${place} 화면으로 가기`,
  language: "언어",
  themes: { system: "시스템", light: "밝게", dark: "어둡게" },
  theme: (theme, next) => `테마: ${theme}. 바꾸기: ${next}`,
  nothingHere: "이 주소에는 아무것도 없습니다",
  goToOverview: "개요로 가기",
  palette: "이동…",
  paletteHint: "화면, 스케줄, 종류, 레인, 또는 작업이나 실행의 번호",
  skew: (by, isBehind) =>
    `이 컴퓨터의 시계가 시스템보다 ${by} ${isBehind ? "느립니다" : "빠릅니다"}. 여기의 시각은 시스템 시계를 따릅니다.`,
};

const shared: Words["shared"] = {
  close: "닫기",
  dismiss: "지우기",
  undo: "되돌리기",
  tryAgain: "다시 시도",
  loading: "불러오는 중…",
  columns: "열",
  none: "없음",
  retry: "재시도",
  cancel: "취소",
  pause: "일시 중지",
  resume: "재개",
  runNow: "지금 실행",
  viewJobs: "작업 보기",
  showJobs: "작업 보기",
  showJob: "작업 보기",
  actions: "동작",
  noCode: "코드 없음",
  job: "작업",
  span: "기간",
  keepAsIs: "바꾸지 않기",
  copied: "복사했습니다",
  notCopied: "복사하지 못했습니다",
  showAllCharacters: (length) => `${numberText(length)}자 모두 보기`,
  partFailed: "페이지의 이 부분이 실패했습니다",
  noConnection: "연결 없음",
  notFound: "찾을 수 없음",
  cannotAnswer: "API가 답하지 못했습니다",
  unreachable: "API가 답하지 않습니다. 시스템이 아직 실행 중인가요?",
  answered: (status) => `API의 응답: ${status}`,
  noSchedule: (id) => `${id}: 그런 스케줄이 없습니다`,
};

const audits: Words["audits"] = {
  title: "바꾼 사람",
  none: "최근의 변경 가운데 사람이 여기서 바꾼 것은 없습니다",
  columns: { who: "누가", what: "무엇을", answer: "응답", sent: "보낸 값" },
  object: "대상: /runs/1",
  before: (at) => [at, " 이전"],
  untilNow: "지금까지",
  older: "이전 변경",
  changesBefore: "시작 전에 바뀐 것",
};

const filter: Words["filter"] = {
  write: "필터 쓰기",
  clear: "필터 지우기",
  suggestions: "제안",
  nothingUntilCorrected: "필터를 고칠 때까지 아무것도 일치하지 않습니다.",
  twice: (field) => `“${field}:” 필드가 두 번 나옵니다. 하나만 남기세요`,
  noField: (field, fields) => `“${field}” 필드는 없습니다. 쓸 수 있는 필드: ${fields}`,
  noValue: (field) => `“${field}:” 필드에 아직 값이 없습니다`,
  noState: (value, states_) => `“${value}” 상태는 없습니다. 쓸 수 있는 상태: ${states_}`,
  noNumber: (value) => `“${value}” 값은 작업 번호가 아닙니다. id:42처럼 쓰세요`,
  badHeld: (value) => `“held:${value}”: held:yes 또는 held:no로 쓰세요`,
  badRange: (field, value) =>
    `“${field}:${value}”: due:past, due:<1h, ended:last-night, created:>1d, took:>10s, attempt:>1 또는 from..to처럼 쓰세요`,
  badLate: (value) => `“late:${value}”: late:>5s처럼 쓰세요`,
  nextRow: "다음 행",
  rowBefore: "이전 행",
  openRow: "행 열기",
};

const verbs = { retry: "재시도", cancel: "취소" };

const bulk: Words["bulk"] = {
  ongoing: (verb, done: Count, total: Count) =>
    `${verbs[verb]} 중: ${numberText(total)}개 가운데 ${numberText(done)}개`,
  stop: "멈추기",
  notStopped: "멈추지 못했습니다",
  consequences: {
    retry: "각 작업이 같은 id와 키, 이력을 가지고 다시 시작합니다. 도중에 멈출 수 있습니다.",
    cancel: "어느 것도 실행되지 않으며 실행 중인 것은 중단됩니다. 도중에 멈출 수 있습니다.",
  },
  none: (verb) => `여기에는 ${verbs[verb]}할 수 있는 작업이 없습니다`,
  question: (verb, total) => `작업 ${numberText(total)}개를 ${verbs[verb]}할까요?`,
  action: (verb, total) => `작업 ${numberText(total)}개 ${verbs[verb]}`,
  notChanged: (verb) => `작업을 ${verbs[verb]}하지 못했습니다`,
  changed: (verb, changed, refused, isStopped) =>
    `작업 ${numberText(changed)}개 ${verbs[verb]}함${isStopped ? " (도중에 멈춤)" : ""}${
      refused === 0 ? "" : `, ${numberText(refused)}개는 그대로 둠`
    }`,
  filter: "필터",
  everyJob: "없음: 모든 작업",
  kinds: (among) => `종류${among}`,
  states: (among) => `상태${among}`,
  ofNewest: (count) => ` (최근 ${numberText(count)}개 기준)`,
  more: (count) => `외 ${numberText(count)}`,
};

export const koShared = {
  many,
  states,
  stateMeanings,
  phases,
  reasons,
  mergedInto,
  time,
  places,
  labels,
  shell,
  shared,
  audits,
  filter,
  bulk,
};
