import { setTimeout } from "node:timers/promises"
import type { DatabaseWatch } from "./databaseUse.ts"
import { processorTimeOf } from "./processorTime.ts"

export const idleRounds = 6
export const idleMs = 5_000
/** How long to wait for PostgreSQL's statistics, which are reported ten seconds late. */
const statisticsDelayMs = 11_000

export interface Use {
  readonly serviceMs: number
  readonly postgresMs: number
  readonly transactions: number
}

/** Returns the resource use of a service and its database connections since the previous call. */
export const resourceUseOf = (pid: number, watch: DatabaseWatch) => {
  let serviceMs = processorTimeOf(pid)
  return async (): Promise<Use> => {
    const before = serviceMs
    serviceMs = processorTimeOf(pid)
    const { processorMs, transactions } = await watch.since()
    return { serviceMs: serviceMs - before, postgresMs: processorMs, transactions }
  }
}

interface Idle {
  /** Milliseconds of CPU time per second. */
  readonly service: ReadonlyArray<number>
  readonly postgres: ReadonlyArray<number>
  readonly both: ReadonlyArray<number>
  readonly transactions: ReadonlyArray<number>
}

/** Measures all services at the same time, each by its own processes only. */
export const measureIdle = async (
  services: ReadonlyArray<{ readonly used: () => Promise<Use> }>
): Promise<ReadonlyArray<Idle>> => {
  const rounds: Array<ReadonlyArray<Use>> = []
  await setTimeout(statisticsDelayMs)
  await Promise.all(services.map(({ used }) => used()))
  for (let round = 0; round < idleRounds; round++) {
    await setTimeout(idleMs)
    rounds.push(await Promise.all(services.map(({ used }) => used())))
  }
  return services.map((_, index) => {
    const perSecond = (amount: (use: Use) => number) =>
      rounds.flatMap(({ [index]: use }) =>
        use === undefined ? [] : [(amount(use) * 1_000) / idleMs]
      )
    return {
      service: perSecond(({ serviceMs }) => serviceMs),
      postgres: perSecond(({ postgresMs }) => postgresMs),
      both: perSecond(({ postgresMs, serviceMs }) => postgresMs + serviceMs),
      transactions: perSecond(({ transactions }) => transactions)
    }
  })
}
