import { makeTargets, type Target, targetsAt } from "./contract/Contract.ts"
import { type Dice, diceFrom } from "./Dice.ts"
import {
  type RequestDraft,
  draftOf,
  revokingEndpoints,
  requestOf
} from "./exchange/RequestDraft.ts"
import { foundWorld } from "./world/Founders.ts"
import { makeGenerators } from "./contract/Generate.ts"
import { errorOf, type Exchange, targetOf } from "./exchange/Exchange.ts"
import { judge } from "./judge/Judge.ts"
import { learn } from "./Learn.ts"
import { mutate } from "./mutate/Mutations.ts"
import { Connection, NoResponse, type WireResponse, type WireRequest } from "./exchange/Wire.ts"
import type { World } from "./world/World.ts"

export interface AttackOptions {
  readonly url: string
  /** The target for generated calls: the origin of a server that accepts all requests. */
  readonly sink: string
  readonly seed: number
  readonly requests: number
  readonly concurrency: number
  /** The time that generated times are close to, in milliseconds since the epoch. */
  readonly now: number
  /** Called with the number of each request before it is sent. */
  readonly onRequest?: (number: number) => void
}

export interface Failure {
  readonly number: number
  readonly problems: ReadonlyArray<string>
  readonly draft: RequestDraft
  readonly request: WireRequest
  readonly answer: WireResponse | undefined
}

export interface AttackResult {
  readonly targets: ReadonlyArray<Target>
  readonly failures: ReadonlyArray<Failure>
  /** Response counts, by the intended endpoint's name and by `<status> <code>`. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** All secrets that were sent or received. None of them may appear in a log. */
  readonly secrets: ReadonlySet<string>
}

/** The maximum number of reported problems. Later ones rarely differ from the first ten. */
const maxFailures = 10

/** The fraction of requests that are not mutated. */
const validShare = 0.55

/**
 * An endpoint's relative frequency, 1 by default. Endpoints that hash a password are rare, because
 * a hash takes 30 ms of CPU time.
 */
const shares: Readonly<Record<string, number>> = {
  "auth.register": 0.08,
  "auth.login": 0.1,
  "auth.updateMe": 0.15,
  "auth.changePassword": 0.05,
  "auth.deleteMe": 0.05,
  "auth.logout": 0.05,
  "workspaces.delete": 0.15,
  "cron.create": 2,
  "delayed.create": 2,
  "chains.create": 2
}

/**
 * Sends requests determined by the seed, checks each response, and learns from it for later
 * requests.
 */
export const attack = async (options: AttackOptions): Promise<AttackResult> => {
  const { concurrency, now, onRequest, requests, seed, sink, url } = options
  const targets = makeTargets(makeGenerators({ seed: String(seed), sink, now }))
  const targetsOf = targetsAt(targets)
  const choose = chooser(targets)
  const world = await foundWorld(url)
  const { host } = new URL(url)
  const failures: Array<Failure> = []
  const answers = new Map<string, Map<string, number>>()
  const said = new Set<string>()

  const count = (name: string, outcome: string) => {
    const tally = answers.get(name) ?? new Map<string, number>()
    answers.set(name, tally.set(outcome, (tally.get(outcome) ?? 0) + 1))
  }

  const make = (number: number) => {
    const dice = diceFrom(`${seed}/${number}`)
    const draft = draftOf(choose(dice.fork("target")), dice, world)
    if (!dice.chance(validShare)) mutate(draft, dice.fork("mutations"), world)
    const request = requestOf(draft, host)
    const here = targetsOf(request.target.split("?")[0] ?? "")
    return { draft, here, request: protectCredential(world, request, targetOf({ here, request })) }
  }

  let next = 0
  const attacker = async () => {
    const connection = new Connection(url)
    while (next < requests && failures.length < maxFailures) {
      const number = next++
      onRequest?.(number)
      const { draft, here, request } = make(number)
      for (const secret of draft.secrets) said.add(secret)
      try {
        const answer = await connection.send(request)
        const exchange: Exchange = { draft, request, answer, here }
        const problems = judge(exchange, world)
        if (problems.length > 0) failures.push({ number, problems, draft, request, answer })
        learn(exchange, world)
        count(draft.target.name, `${answer.status} ${errorOf(answer)?.error ?? ""}`.trim())
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error
        failures.push({
          number,
          problems: [`no response: ${error.message}`],
          draft,
          request,
          answer: undefined
        })
      }
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: concurrency }, attacker))
  return { targets, failures, answers, secrets: new Set([...world.shownOnce, ...said]) }
}

const chooser = (targets: ReadonlyArray<Target>) => {
  const ends: Array<readonly [end: number, target: Target]> = []
  let total = 0
  for (const target of targets) ends.push([(total += shares[target.name] ?? 1), target])
  const precision = 1_000
  return (dice: Dice): Target => {
    const at = dice.below(total * precision) / precision
    const [, target] = ends.find(([end]) => at < end) ?? ends[0] ?? []
    if (target === undefined) throw new Error("a contract without endpoints")
    return target
  }
}

/**
 * Removes the credential if a mutation made the request reach an endpoint that would revoke a
 * credential that must stay valid (`isLasting`).
 */
const protectCredential = (
  world: World,
  request: WireRequest,
  target: Target | undefined
): WireRequest => {
  if (!revokingEndpoints.has(target?.name ?? "")) return request
  const isLasting = world.sessions.some(
    (session) =>
      session.isLasting &&
      request.headers.some(
        ([name, value]) => name === "authorization" && value.includes(session.token)
      )
  )
  return isLasting
    ? { ...request, headers: request.headers.filter(([name]) => name !== "authorization") }
    : request
}
