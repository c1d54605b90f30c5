import { setTimeout } from "node:timers/promises"
import type { DatabaseWatch } from "./databaseUse.ts"
import { cpuTimeOf } from "./cpuTime.ts"

export const idleRounds = 6
export const idleMs = 5_000
/** The delay before measuring, because PostgreSQL's statistics can be ten seconds old. */
const statisticsDelayMs = 11_000

export interface ResourceUse {
  readonly serviceMs: number
  readonly postgresMs: number
  readonly transactions: number
}

/** Returns the resource usage of a service and its database connections since the previous call. */
export const resourceUseOf = (pid: number, watch: DatabaseWatch) => {
  let serviceMs = cpuTimeOf(pid)
  return async (): Promise<ResourceUse> => {
    const before = serviceMs
    serviceMs = cpuTimeOf(pid)
    const { cpuMs, transactions } = await watch.since()
    return { serviceMs: serviceMs - before, postgresMs: cpuMs, transactions }
  }
}

interface Idle {
  /** CPU time in milliseconds per second. */
  readonly service: ReadonlyArray<number>
  readonly postgres: ReadonlyArray<number>
  readonly both: ReadonlyArray<number>
  readonly transactions: ReadonlyArray<number>
}

/**
 * Measures all services at the same time. Each measurement includes only its own service's
 * processes.
 */
export const measureIdle = async (
  services: ReadonlyArray<{ readonly used: () => Promise<ResourceUse> }>
): Promise<ReadonlyArray<Idle>> => {
  const rounds: Array<ReadonlyArray<ResourceUse>> = []
  await setTimeout(statisticsDelayMs)
  await Promise.all(services.map(({ used }) => used()))
  for (let round = 0; round < idleRounds; round++) {
    await setTimeout(idleMs)
    rounds.push(await Promise.all(services.map(({ used }) => used())))
  }
  return services.map((_, index) => {
    const perSecond = (amount: (use: ResourceUse) => number) =>
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
