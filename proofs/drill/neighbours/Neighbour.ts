import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { TestClient, type JsonReply } from "./TestClient.ts"

export interface NeighbourObservations {
  /** The delays between the time at which each call was due and the time at which it arrived. */
  readonly latenessMs: ReadonlyArray<number>
  readonly answerMs: ReadonlyArray<number>
  readonly errors: ReadonlyArray<string>
}

const nowMs = () => performance.timeOrigin + performance.now()

/**
 * How far ahead tasks are scheduled, so that a slow creation request does not make the task's call
 * late.
 */
const aheadMs = 1_500

/**
 * The time after which a missing call is considered lost. This time is then recorded as the call's
 * lateness.
 */
const lostAfterMs = 30_000

/** A modest tenant, which occasionally creates a delayed task, reads a list and calls `/whoami`. */
export class Neighbour {
  #seen: { latenessMs: Array<number>; answerMs: Array<number>; errors: Array<string> } = empty()
  readonly #awaited = new Map<string, number>()
  readonly #client: TestClient
  readonly #sinkUrl: string

  private constructor(client: TestClient, sinkUrl: string) {
    this.#client = client
    this.#sinkUrl = sinkUrl
  }

  static async join(url: string): Promise<Neighbour> {
    const client = await new TestClient(url, "127.0.200.1", 64).join()
    const sink = createServer((request, response) => {
      neighbour.#arrived(request.url?.slice(1) ?? "")
      request.resume()
      response.end("ok")
    }).listen(0, "127.0.0.1")
    await new Promise((resolve) => sink.once("listening", resolve))
    sink.unref()
    const neighbour = new Neighbour(
      client,
      `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`
    )
    return neighbour
  }

  async live(forMs: number, everyMs: number): Promise<NeighbourObservations> {
    this.#seen = empty()
    // Log in again, because a session would expire during a long drill.
    await this.#timed("login", () => this.#client.login())
    const untilMs = nowMs() + forMs
    const steps: Array<Promise<void>> = []
    for (let nextMs = nowMs(); nextMs < untilMs; nextMs += everyMs) {
      await sleep(Math.max(0, nextMs - nowMs()))
      steps.push(this.#step())
    }
    await Promise.all(steps)
    const graceUntilMs = nowMs() + lostAfterMs
    while (this.#awaited.size > 0 && nowMs() < graceUntilMs) await sleep(50)
    for (const [id, dueMs] of this.#awaited) {
      this.#seen.latenessMs.push(nowMs() - dueMs)
      this.#seen.errors.push("a call never arrived")
      this.#awaited.delete(id)
    }
    return this.#seen
  }

  async #step(): Promise<void> {
    const { workspace } = this.#client
    await Promise.all([
      this.#timed("list", () => this.#client.ask("GET", `${workspace}/cron`)),
      this.#timed("whoami", () => this.#client.ask("GET", "/v1/whoami")),
      this.#timed("create", async () => {
        const id = crypto.randomUUID()
        const dueMs = Math.ceil(nowMs()) + aheadMs
        this.#awaited.set(id, dueMs)
        const made = await this.#client.ask("POST", `${workspace}/delayed`, {
          url: this.#sinkUrl + id,
          run_at: new Date(dueMs).toISOString()
        })
        if (made.status !== 201) this.#awaited.delete(id)
        return made
      })
    ])
  }

  async #timed(what: string, ask: () => Promise<TestClient | JsonReply>): Promise<void> {
    const startedMs = performance.now()
    try {
      const answer = await ask()
      if ("status" in answer && answer.status >= 300) {
        this.#seen.errors.push(`${what}: ${answer.status}`)
      }
    } catch (error) {
      this.#seen.errors.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
    this.#seen.answerMs.push(performance.now() - startedMs)
  }

  #arrived(id: string): void {
    const dueMs = this.#awaited.get(id)
    if (dueMs === undefined) return
    this.#awaited.delete(id)
    this.#seen.latenessMs.push(nowMs() - dueMs)
  }
}

const empty = () => ({
  latenessMs: [] as Array<number>,
  answerMs: [] as Array<number>,
  errors: [] as Array<string>
})
