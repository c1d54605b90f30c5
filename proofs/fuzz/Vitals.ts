import * as fs from "node:fs"

export interface Vitals {
  readonly rssMb: number
  readonly handles: number
}

export const vitalsOf = (pid: number): Vitals | undefined => {
  try {
    const [, kilobytes] =
      /^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return {
      rssMb: Number(kilobytes) / 1024,
      handles: fs.readdirSync(`/proc/${pid}/fd`).length
    }
  } catch {
    return undefined
  }
}

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0

/** Returns the fifth of the samples at index `number`. */
export const fifth = <A>(samples: ReadonlyArray<A>, number: number): ReadonlyArray<A> =>
  samples.slice((samples.length * number) / 5, (samples.length * (number + 1)) / 5)
