import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import {
  call,
  type Called,
  newUser,
  type ServerProcess
} from "../../../packages/server/test/support/ServerProcess.ts"

type Node = Pick<ServerProcess, "url">

/**
 * The clients' credentials (a user, and a key that no clock step invalidates), and the tasks and
 * chains that they run.
 */
export interface Account {
  readonly workspace: string
  readonly workspaceId: string
  readonly token: string
  readonly key: string
  readonly tasks: ReadonlyArray<string>
  readonly chain: string
}

/**
 * The number of tasks that are run manually. A run locks its task, so with few tasks the clients
 * would block each other.
 */
const manualTaskCount = 10

export const chainSteps = ["first", "second"]

/** The timeout of a client. The server responds with 503 before that. */
export const patienceMs = 20_000

const create = async (
  node: Node,
  token: string,
  at: string,
  body: object
): Promise<Called["body"]> => {
  const created = await call(node, "POST", at, { token, body })
  if (created.status !== 201) throw new Error(`${at}: ${JSON.stringify(created.body)}`)
  return created.body
}

/** Creates a workspace whose tasks call the sink. Some tasks fire every minute. */
export const openAccount = Effect.fnUntraced(function* (node: Node, sinkUrl: string) {
  const { token, workspace } = yield* newUser(node)
  return yield* Effect.promise(async (): Promise<Account> => {
    const scopes = ["tasks:read", "tasks:write", "executions:read", "workspace:read"]
    const { key } = await create(node, token, `${workspace}/api-keys`, { name: "load", scopes })
    const task = { url: sinkUrl, schedule: "* * * * *", overlap: "allow" }
    const tasks = await Promise.all(
      Array.from({ length: manualTaskCount }, (_, n) =>
        create(node, key, `${workspace}/cron`, { ...task, name: `task ${n}` })
      )
    )
    const steps = chainSteps.map((name) => ({ name, url: sinkUrl }))
    const chain = await create(node, key, `${workspace}/chains`, { name: "chain", steps })
    return {
      workspace,
      workspaceId: workspace.split("/").at(-1) ?? "",
      token,
      key: String(key),
      tasks: tasks.map(({ id }) => String(id)),
      chain: String(chain.id)
    }
  })
})

/** The writes that clients requested, and those that the service acknowledged. */
export class Ledger {
  sent = 0
  /** The number of manual runs that were requested, acknowledged or not. */
  askedRuns = 0
  askedChainRuns = 0
  readonly delayed = new Set<string>()
  readonly runs = new Set<string>()
  readonly chainRuns = new Set<string>()
  readonly keys = new Set<string>()
  /** How often each node responded with each status, or did not respond. */
  readonly #answers = new Map<Node, Map<string, number>>()
  slowestMs = 0
  /** The longest time between two acknowledgements across all clients. */
  longestGapMs = 0
  #acknowledgedAtMs: number | undefined

  get acknowledged(): number {
    return this.delayed.size + this.runs.size + this.chainRuns.size + this.keys.size
  }

  count(node: Node, answer: string, tookMs: number): void {
    const answers = this.#answers.get(node) ?? new Map<string, number>()
    this.#answers.set(node, answers.set(answer, (answers.get(answer) ?? 0) + 1))
    if (answer !== refused) this.slowestMs = Math.max(this.slowestMs, tookMs)
  }

  acknowledge(promised: Set<string>, id: string): void {
    promised.add(id)
    this.endGap()
  }

  /**
   * Ends the current gap between acknowledgements. Called on each acknowledgement and at the end of
   * the load.
   */
  endGap(): void {
    const nowMs = performance.now()
    this.longestGapMs = Math.max(this.longestGapMs, nowMs - (this.#acknowledgedAtMs ?? nowMs))
    this.#acknowledgedAtMs = nowMs
  }

  /** Returns the response counts of one node, or of all nodes. */
  answers(by?: Node): ReadonlyMap<string, number> {
    const sum = new Map<string, number>()
    for (const [node, answers] of this.#answers) {
      if (by !== undefined && by !== node) continue
      for (const [answer, count] of answers) sum.set(answer, (sum.get(answer) ?? 0) + count)
    }
    return sum
  }
}

export const refused = "no connection"
export const unanswered = `no response in ${patienceMs / 1000} s`

interface Write {
  readonly at: string
  readonly body?: object
  readonly token: string
  readonly promised: Set<string>
}

/** A workspace has at most 100 keys. */
const maxKeys = 80

const nextWrite = (ledger: Ledger, account: Account, sinkUrl: string): Write => {
  const { chain, key, tasks, token } = account
  const n = ledger.sent++
  switch (n % 10) {
    case 3:
    case 6: {
      ledger.askedRuns++
      const task = tasks[Math.floor(n / 10) % tasks.length]
      return { at: `/cron/${task}/run`, token: key, promised: ledger.runs }
    }
    case 8:
      ledger.askedChainRuns++
      return { at: `/chains/${chain}/run`, token: key, promised: ledger.chainRuns }
    case 9:
      if (n / 10 < maxKeys) {
        const body = { name: `key ${n}`, scopes: ["tasks:read"] }
        return { at: "/api-keys", body, token, promised: ledger.keys }
      }
  }
  const body = { name: `write ${n}`, url: sinkUrl, delay_seconds: n % 3 }
  return { at: "/delayed", body, token: key, promised: ledger.delayed }
}

export interface LoadOptions {
  readonly nodes: ReadonlyArray<Node>
  readonly account: Account
  readonly sinkUrl: string
  readonly ledger: Ledger
  readonly clients?: number
  readonly pauseMs?: number
}

/**
 * Starts clients that write, each to its own node, or to the next node while that one does not
 * respond. A client repeats a write with the same `Idempotency-Key` until it is acknowledged.
 * Clients stop when the scope closes.
 */
export const startLoad = Effect.fnUntraced(function* (options: LoadOptions) {
  const { account, clients = 12, ledger, nodes, pauseMs = 30, sinkUrl } = options
  const stopping = new AbortController()

  const attempt = async (node: Node, write: Write, key: string) => {
    const startedMs = performance.now()
    const answer = await call(node, "POST", account.workspace + write.at, {
      token: write.token,
      ...(write.body === undefined ? {} : { body: write.body }),
      headers: write.promised === ledger.keys ? {} : { "idempotency-key": key },
      timeoutMs: patienceMs
    }).catch((error: Error) => error)
    const tookMs = performance.now() - startedMs
    if (answer instanceof Error) {
      ledger.count(node, answer.name === "TimeoutError" ? unanswered : refused, tookMs)
      return false
    }
    ledger.count(node, String(answer.status), tookMs)
    if (answer.status >= 300) return false
    ledger.acknowledge(write.promised, String(answer.body.id))
    return true
  }

  const client = async (home: number) => {
    while (!stopping.signal.aborted) {
      const write = nextWrite(ledger, account, sinkUrl)
      const key = randomUUID()
      for (let tries = 0; !stopping.signal.aborted; tries++) {
        const node = nodes[(home + tries) % nodes.length]
        if (node !== undefined && (await attempt(node, write, key))) break
        await sleep(pauseMs)
      }
      await sleep(pauseMs)
    }
  }

  const all = Promise.all(Array.from({ length: clients }, (_, n) => client(n)))
  const stop = Effect.promise(async () => {
    if (!stopping.signal.aborted) ledger.endGap()
    stopping.abort()
    await all
  })
  yield* Effect.addFinalizer(() => stop)
  return { stop }
})
