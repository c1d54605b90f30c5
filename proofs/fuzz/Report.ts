import type { Failure, AttackResult } from "./Attack.ts"
import { fifth, median, type Vitals } from "./Vitals.ts"
import { toCurl } from "./exchange/Wire.ts"

/**
 * Formats response counts, one line per intended endpoint. A mutated request can reach a different
 * endpoint.
 */
export const responseTable = ({ answers, targets }: AttackResult): string => {
  const width = Math.max(...targets.map(({ name }) => name.length))
  return targets
    .map(({ name }) => {
      const tally = [...(answers.get(name) ?? [])].toSorted(([left], [right]) =>
        left.localeCompare(right)
      )
      return `${name.padEnd(width)}  ${tally.map(([outcome, count]) => `${outcome} ${count}`).join(", ")}`
    })
    .join("\n")
}

export const statusTable = ({ answers }: AttackResult): string => {
  const totals = new Map<string, number>()
  for (const [outcome, count] of [...answers.values()].flatMap((tally) => [...tally])) {
    const status = outcome.slice(0, 3)
    totals.set(status, (totals.get(status) ?? 0) + count)
  }
  return [...totals]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([status, count]) => `${status} ${count}`)
    .join(", ")
}

/**
 * Lists the endpoints that never returned a success, which suggests that the generator cannot
 * create valid requests for them.
 */
export const neverSucceeded = ({ answers, targets }: AttackResult): ReadonlyArray<string> =>
  targets.flatMap(({ name, successes }) =>
    [...successes.keys()].some((status) => answers.get(name)?.has(String(status)) === true)
      ? []
      : [name]
  )

export const describeFailure = (url: string, seed: number, failure: Failure): string => {
  const { answer, draft, number, problems, request } = failure
  const headers = [...(answer?.headers ?? [])].map(([name, value]) => `${name}: ${value}`)
  return [
    `Request ${number} of seed ${seed}, to ${draft.target.name}:`,
    ...problems.map((problem) => `  ${problem}`),
    `Its flaws: ${draft.flaws.join(", ") || "none"}`,
    toCurl(url, request, `${seed}-${number}`),
    ...(answer === undefined ? [] : [`${answer.status}`, ...headers, "", shortened(answer.text)]),
    `To reproduce: npm run fuzz -- --seed ${seed} --requests ${number + 1}`
  ].join("\n")
}

const shortened = (text: string) =>
  text.length <= 4_000 ? text : `${text.slice(0, 4_000)}… (${text.length} characters)`

/** Returns whether the logs contain a secret, in plain text or escaped as in JSON. */
export const isAnyIn = (secrets: ReadonlySet<string>, logs: string): boolean =>
  [...secrets].some(
    (secret) => logs.includes(secret) || logs.includes(JSON.stringify(secret).slice(1, -1))
  )

/** The maximum memory growth per request in bytes, with a margin for normal growth. */
const leakBytes = 1024
const noise = 0.7
const handlesToSpare = 50

export interface Growth {
  readonly rssMb: number
  readonly handles: number
  readonly isFlat: boolean
  readonly line: string
}

/**
 * Compares the last fifth of the samples with the second fifth, because the first fifth is a
 * warm-up.
 */
export const growthOf = (samples: ReadonlyArray<Vitals>, requests: number): Growth => {
  const of = (number: number) => {
    const part = fifth(samples, number)
    return {
      rssMb: median(part.map(({ rssMb }) => rssMb)),
      handles: median(part.map(({ handles }) => handles))
    }
  }
  const [before, after] = [of(1), of(4)]
  const boundMb = (noise * 0.6 * requests * leakBytes) / 2 ** 20
  const rssMb = after.rssMb - before.rssMb
  const handles = after.handles - before.handles
  return {
    rssMb,
    handles,
    isFlat: rssMb <= boundMb && handles <= handlesToSpare,
    line:
      `memory ${before.rssMb.toFixed(0)} MB, later ${after.rssMb.toFixed(0)} MB ` +
      `(${rssMb.toFixed(1)} more, ${boundMb.toFixed(1)} allowed); ` +
      `handles ${before.handles}, later ${after.handles}; ` +
      `at its highest ${Math.max(...samples.map((sample) => sample.rssMb)).toFixed(0)} MB`
  }
}
