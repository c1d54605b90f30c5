import type { DrillResult } from "./fixture/Fixture.ts"

/** Formats a table. The first column is left-aligned, the others are right-aligned. */
export const tableOf = (columns: ReadonlyArray<readonly [name: string, width: number]>) => {
  const row = (cells: ReadonlyArray<string>): string =>
    columns
      .map(([, width], n) =>
        n === 0 ? (cells[n] ?? "").padEnd(width) : (cells[n] ?? "").padStart(width)
      )
      .join("  ")
  const names = columns.map(([name]) => name)
  const lines = columns.map(([, width]) => "-".repeat(width))
  return { header: `${row(names)}\n${row(lines)}`, row }
}

const table = tableOf([
  ["drill", 9],
  ["sent", 6],
  ["acknowledged", 12],
  ["lost", 5],
  ["runs due", 8],
  ["ended", 6],
  ["lost", 5],
  ["repeated", 8],
  ["at most", 7],
  ["twice", 5],
  ["longest gap", 11],
  ["recovered in", 12],
  ["promised", 8]
])

export const { header } = table

export const rowOf = (name: string, outcome: DrillResult): string => {
  const { audit, inFlight, ledger, recovery } = outcome
  return table.row([
    name,
    String(ledger.sent),
    String(ledger.acknowledged),
    String(audit.lost.length),
    String(audit.due),
    String(audit.ended),
    String(audit.lostRuns.length),
    String(audit.repeated),
    String(inFlight),
    String(audit.twice.length),
    `${(ledger.longestGapMs / 1000).toFixed(1)} s`,
    `${recovery.seconds.toFixed(1)} s`,
    `${recovery.withinSeconds} s`
  ])
}

/** Describes the responses to requests, and other observations. */
export const describeObservations = ({
  audit,
  ledger,
  notes
}: DrillResult): ReadonlyArray<string> => {
  const answers = [...ledger.answers()].toSorted().map(([answer, count]) => `${answer}: ${count}`)
  return [
    `responses ${answers.join(", ")}; the slowest took ${(ledger.slowestMs / 1000).toFixed(1)} s`,
    ...(audit.later > 0
      ? [`${audit.later} delayed tasks are queued, because they are not due yet`]
      : []),
    ...notes
  ]
}

export const brokenPromises = ({ audit, broken, inFlight }: DrillResult): ReadonlyArray<string> => [
  ...example("acknowledged but lost", audit.lost),
  ...example("runs lost", audit.lostRuns),
  ...example("twice", audit.twice),
  ...example("finished by a node that had lost its lease", audit.endedWithoutLease),
  ...(audit.repeated > inFlight ? ["more repeated calls than were in flight"] : []),
  ...broken
]

const example = (what: string, ids: ReadonlyArray<string>): ReadonlyArray<string> =>
  ids.length === 0 ? [] : [`${ids.length} ${what}, such as ${ids[0]}`]
