import { Call } from "@scheduling/calls/Call"
import {
  maxWaitSeconds,
  type WorkerCall,
  workerProtocol
} from "@scheduling/domain/workers/WorkerProtocol"
import { SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Random } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { backoffMs } from "./backoff.ts"
import { Bell } from "./Bell.ts"
import { type Ending, Held } from "./Held.ts"
import { endedBy, reasonOf, type Refusal, refusalIn } from "./refusals.ts"
import { ProcessWatch } from "./processes.ts"
import { Service } from "./Service.ts"
import type { Settings } from "./settings.ts"
import type { Status } from "./status.ts"

/** The service is told to wait shorter than any proxy would. */
const answerWithin = "10 seconds"
const claimWithin = Duration.seconds(maxWaitSeconds + 15)

/** Results that end together are handed in together. */
const gatherMs = 5

type Answer = Omit<Ending, "lease" | "run_id" | "endedAtMs">

interface Session {
  readonly id: number
  readonly beatMs: number
  readonly busyBeatMs: number
}

/**
 * Takes runs, makes their calls and hands in the results, until `stop` is done. It then takes no
 * more, lets calls end and says goodbye.
 */
export const runAgent = Effect.fnUntraced(function* (
  settings: Settings,
  {
    report,
    stop
  }: {
    readonly report: (status: Omit<Status, "pid" | "at">) => Effect.Effect<void>
    readonly stop: Deferred.Deferred<void>
  }
) {
  const call = yield* Call
  const clock = yield* Clock.Clock
  const service = yield* Service
  const held = new Held(settings.slots)
  const calls = new Map<string, Fiber.Fiber<Answer>>()
  const watch = new ProcessWatch()
  const freed = new Bell()
  const ended = new Bell()
  const beatNow = new Bell()
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  let done = 0
  let trouble: string | null = null
  let worker = ""

  /** Tries until the service answers, and says once what is wrong and once that it is over. */
  const persistently = Effect.fnUntraced(function* <A, E>(
    what: string,
    request: Effect.Effect<A, E>
  ) {
    for (let failures = 1; ; failures++) {
      const exit = yield* Effect.exit(request)
      if (Exit.isSuccess(exit)) {
        if (failures > 1) yield* Effect.logInfo(`${what}: the service answers again`)
        trouble = null
        return exit.value
      }
      const refusal = refusalIn(exit)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      trouble = reasonOf(exit)
      if (failures === 1) yield* Effect.logWarning(`${what}: ${trouble}; trying again`)
      yield* Effect.sleep(backoffMs(failures, yield* Random.next))
    }
  })

  const begin = persistently(
    "saying hello",
    Effect.timeout(
      service.hello({
        payload: {
          protocol: workerProtocol,
          version: packageJson.version,
          host: settings.host,
          slots: settings.slots,
          ...(settings.labels !== undefined && { labels: settings.labels })
        }
      }),
      answerWithin
    )
  )

  const make = (given: WorkerCall) =>
    call
      .run({
        ...given,
        workspace_id: "",
        execution_id: given.run_id,
        secrets: []
      })
      .pipe(
        Effect.map((answer): Answer => ({
          outcome: answer.outcome,
          status_code: answer.status_code,
          response_body: answer.response_body,
          error: answer.error,
          retry_after_seconds: answer.retry_after_seconds,
          duration_ms: answer.duration_ms
        }))
      )

  const runCall = Effect.fnUntraced(function* (given: WorkerCall) {
    const startedMs = nowMs()
    const { lease, run_id } = given
    const fiber = yield* Effect.forkDetach(Effect.interruptible(make(given)))
    calls.set(run_id, fiber)
    const exit = yield* Fiber.await(fiber)
    calls.delete(run_id)
    const endedAtMs = nowMs()
    const duration_ms = Math.round(endedAtMs - startedMs)
    const result = Exit.isSuccess(exit)
      ? exit.value
      : {
          outcome: "cancelled" as const,
          status_code: null,
          response_body: null,
          error: null,
          retry_after_seconds: null,
          duration_ms
        }
    held.end({ ...result, lease, run_id, endedAtMs })
    done++
    ended.ring()
    const how = result.status_code ?? result.error ?? result.outcome
    yield* Effect.logInfo(
      `${given.method} ${withoutQuery(given.url)}: ${how} in ${duration_ms} ms`
    ).pipe(Effect.annotateLogs({ run: run_id, attempt: given.attempt }))
  })

  /** Of its own, because a call goes on while the agent drains. */
  const start = (given: WorkerCall) =>
    held.take(given) ? Effect.asVoid(Effect.forkDetach(runCall(given))) : Effect.void

  const claimOnce = Effect.fnUntraced(function* ({ id }: Session) {
    if (held.free === 0) return yield* freed.wait
    const { calls: given } = yield* persistently(
      "asking for runs",
      Effect.timeout(
        service.claim({
          payload: { session: id, slots: held.free, wait_seconds: maxWaitSeconds }
        }),
        claimWithin
      )
    )
    yield* Effect.forEach(given, start, { discard: true })
    if (given.length > 0) beatNow.ring()
  })

  const handIn = Effect.fnUntraced(function* ({ id }: Session) {
    if (held.unsent === 0) yield* ended.wait
    yield* Effect.sleep(gatherMs)
    const results = held.next(nowMs())
    if (results.length === 0) return
    const { receipts } = yield* persistently(
      "handing in results",
      Effect.suspend(() =>
        Effect.timeout(
          service.results({ payload: { session: id, results: held.next(nowMs()) } }),
          answerWithin
        )
      )
    )
    held.release(receipts.map(({ run_id }) => run_id))
    freed.ring()
    const fenced = receipts.filter(({ receipt }) => receipt === "fenced")
    if (fenced.length > 0) {
      yield* Effect.logWarning(
        `${fenced.length} results came too late: their runs had gone to other workers`
      )
    }
  })

  const tell = (online: boolean) =>
    report({ worker, online, running: calls.size, unsent: held.unsent, done, trouble })

  const beatOnce = Effect.fnUntraced(function* ({ beatMs, busyBeatMs, id }: Session) {
    const reports = yield* Effect.promise(() => watch.observe(nowMs()))
    const orders = yield* persistently(
      "beating",
      Effect.suspend(() =>
        Effect.timeout(
          service.beat({ payload: { session: id, running: [...held.ids], reports } }),
          answerWithin
        )
      )
    )
    watch.watch(orders.watch)
    for (const runId of orders.cancel) {
      const fiber = calls.get(runId)
      if (fiber !== undefined) yield* Effect.forkDetach(Fiber.interrupt(fiber))
    }
    yield* tell(true)
    const pauseMs = held.size > 0 ? busyBeatMs : beatMs
    yield* Effect.raceFirst(Effect.sleep(pauseMs), beatNow.wait)
  })

  const abandon = Effect.suspend(() => {
    const running = [...calls.values()]
    held.clear()
    return Fiber.interruptAll(running)
  })

  /** Lets calls end and hands in their results, as far as that goes in time. */
  const drain = Effect.fnUntraced(function* (session: Session) {
    yield* Effect.logInfo(`stopping: ${calls.size} calls are under way`)
    const emptied = Effect.whileLoop({
      while: () => held.size > 0,
      body: () => Effect.sleep(20),
      step: () => {}
    })
    yield* Effect.raceFirst(
      Effect.timeout(emptied, Duration.seconds(settings.drainSeconds)),
      Effect.forever(handIn(session))
    ).pipe(Effect.raceFirst(Effect.forever(beatOnce(session))), Effect.ignore)
    const left = held.ids
    if (left.length > 0) yield* Effect.logWarning(`${left.length} runs go to other workers`)
    yield* service
      .beat({ payload: { session: session.id, running: [...left], leaving: true } })
      .pipe(Effect.timeout("5 seconds"), Effect.ignore)
    yield* abandon
  })

  const work = Effect.fnUntraced(function* (session: Session) {
    const claiming = Effect.raceFirst(
      Effect.forever(claimOnce(session)),
      Effect.as(Deferred.await(stop), undefined)
    )
    yield* Effect.raceFirst(
      claiming,
      Effect.raceFirst(Effect.forever(handIn(session)), Effect.forever(beatOnce(session)))
    )
    yield* drain(session)
  })

  const sessions = Effect.gen(function* () {
    for (;;) {
      const welcome = yield* begin
      worker = welcome.name
      yield* Effect.logInfo(
        `worker "${welcome.name}" is online with ${settings.slots} slots for ${
          welcome.labels.length === 0 ? "no labels" : welcome.labels.join(", ")
        }`
      )
      yield* tell(true)
      const session: Session = {
        id: welcome.session,
        beatMs: welcome.beat_seconds * 1_000,
        busyBeatMs: welcome.busy_beat_seconds * 1_000
      }
      const exit = yield* Effect.exit(work(session))
      if (Exit.isSuccess(exit)) return
      const refusal = refusalIn(exit)
      if (!(refusal instanceof SessionEnded) || refusal.reason === "replaced") {
        return yield* Exit.asVoid(exit)
      }
      yield* Effect.logWarning(refusal.message)
      yield* abandon
    }
  })

  yield* Effect.raceFirst(sessions, Effect.andThen(Deferred.await(stop), Effect.never)).pipe(
    Effect.ensuring(abandon),
    Effect.catch((refusal: Refusal) => Effect.fail(endedBy(refusal))),
    Effect.ensuring(tell(false))
  )
})

/** Queries may hold secrets. */
const withoutQuery = (url: string) => url.split(/[?#]/, 1)[0]
