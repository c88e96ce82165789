import { kindOf } from "../../../machine/closable-texts.ts";
import { numberText } from "../number.ts";
import type { enChange } from "../en/change.ts";

export const koChange: typeof enChange = {
  payload: {
    none: "이 종류는 페이로드를 받지 않습니다.",
    noJson: "페이로드가 JSON이 아닙니다. 따옴표와 쉼표를 확인하세요.",
    wrong: (fields) => `값이 아님: ${fields}`,
    asJson: "JSON으로 쓰기",
  },
  enqueue: {
    open: "작업 넣기",
    keyHint: "같은 키로는 작업이 다시 만들어지지 않습니다.",
    delay: "지연",
    delayHint: "10m, 2h. 비우면 지금",
    done: (job) => `${job}: 넣었습니다`,
    existed: (job) => `${job}: 이미 이 키가 있어 새로 넣지 않았습니다`,
    joined: (job) => `${job}: 이미 기다리는 작업에 이 호출을 더했습니다`,
    copyTitle: (kind) => `다른 페이로드로 새 ${kind}`,
    copyText: (id) => `작업 ${id}: 그대로 남습니다. 새 작업의 키가 그 번호를 가리킵니다.`,
  },
  caps: {
    open: (kind) => `${kind} 상한 바꾸기`,
    change: "바꾸기",
    action: "상한 바꾸기",
    size: "동시에 실행할 작업 수",
    hint: "다음 릴리스가 정한 수를 가져올 때까지 유지됩니다.",
    changed: (kind, size) => `${kind}: 동시에 최대 ${size}개`,
  },
  pause: {
    named: {
      "/lanes/:name": (name) => (kindOf(name) === null ? `레인 ${name}` : `종류 ${kindOf(name)}`),
      "/schedules/:id": (id) => id,
    },
    toggle: (isPaused, name) => `${name} ${isPaused ? "재개" : "일시 중지"}`,
    question: (name) => `${name}: 일시 중지할까요?`,
    goesOn: (name) => `${name}: 재개했습니다`,
    isPaused: (name) => `${name}: 일시 중지했습니다`,
    until: "언제까지",
    untilHint: "2h, 6:00 또는 2026-11-23T06:00 (내 시계). 비우면 재개할 때까지",
    reason: "이유",
    reasonHint: "일시 중지 옆에 표시됩니다.",
    lasts: (end) => [end, "까지"],
  },
  redrive: {
    groups: (count) => `묶음 ${numberText(count)}개`,
    mark: (kind, code) => `${kind}, ${code} 선택`,
    markAll: "모든 묶음 선택",
    causes: "원인",
    pace: "간격",
    paceHint: "50/s 또는 간격 10s. 비우면 쉬지 않고",
    atOnce: "한꺼번에",
    atOnceHint: "끄면 묶음마다 하나, 다음에 10개, 그다음 나머지를 재시도하고, 다시 실패하면 멈춥니다.",
    samples: (count) => `예시 ${numberText(count)}개`,
    cameTo: (retried, failed) => `${numberText(retried)}개 재시도: ${numberText(failed)}개가 다시 실패`,
    unknown: "재시도의 결과를 알 수 없습니다",
    stopped: (changed: number, { failed, code }: { readonly failed: number; readonly code: string | null }) =>
      `${changed}개 뒤에 멈췄습니다: ${failed}개가 ${code}로 다시 실패했습니다. 아래 작업을 보고 고친 뒤 나머지를 재시도하세요`,
  },
};
