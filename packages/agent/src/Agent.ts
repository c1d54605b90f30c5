import { workerProtocol } from "@scheduling/domain/workers/WorkerProtocol"
import { SessionEnded } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Clock, Deferred, Duration, Effect, Exit } from "effect"
import packageJson from "../package.json" with { type: "json" }
import { Bell } from "./Bell.ts"
import { counted } from "./counted.ts"
import { makeCalls } from "./runs/Calls.ts"
import { Held, resultOf } from "./runs/Held.ts"
import { makePause } from "./service/pause.ts"
import { makePersistence } from "./service/persistence.ts"
import { endedBy, type Refusal, refusalIn } from "./refusals.ts"
import { missingLabels, namesOf } from "./labels.ts"
import { look } from "./processes/look.ts"
import { ProcessWatch } from "./processes/processes.ts"
import { Service } from "./service/Service.ts"
import type { Settings } from "./settings.ts"
import type { Status } from "./status/status.ts"

const answerWithinMs = 10_000

/** Results that end together are handed in together. */
const gatherMs = 5

/**
 * A run that has waited so long for a slot goes back, because another worker may have one. It is
 * looked at with each beat.
 */
const waitAtMostMs = 1_000

/** Slots that become free soon after each other are asked for together. */
const gatherSlotsMs = 10

/** A service with no runs waits before it says so, unless something else has changed. */
const atOnceMs = 1_000

/** A session ends when nothing was heard of its agent for 15 seconds. */
const shortSessionMs = 10_000

interface Session {
  readonly id: number
  readonly waitSeconds: number
  readonly beatMs: number
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
  const clock = yield* Clock.Clock
  const service = yield* Service
  const { persistently, trouble } = makePersistence(Effect.suspend(() => tell))
  const held = new Held(settings.slots)
  const watch = new ProcessWatch(settings.watchCommands)
  /** Rings when there is room for more runs. */
  const freed = new Bell()
  /** Rings when there is something to hand in. */
  const ended = new Bell()
  /** Rings when a request with results would be full. */
  const manyEnded = new Bell()
  const beatNow = new Bell()
  const watchNow = new Bell()
  /** The session is kept by claims, which a beat would only repeat. */
  let isSilent = false
  let gotNothing = false
  let watching = ""
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  let worker = ""
  let online = false

  const calls = yield* makeCalls({
    held,
    nowMs,
    onResult: () => {
      freed.ring()
      ended.ring()
      if (held.hasManyEndings) manyEnded.ring()
    }
  })

  const stopped = Effect.as(Deferred.await(stop), undefined)

  /** Undefined if the agent is to stop before the service has answered. */
  const sayHello = Effect.raceFirst(
    persistently(
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
        answerWithinMs
      )
    ),
    stopped
  )

  const tell = Effect.suspend(() =>
    report({
      worker,
      online,
      running: held.running,
      unsent: held.unsent,
      done: calls.made(),
      trouble: trouble()
    })
  )

  const askForOrders = Effect.fnUntraced(function* ({ id }: Session) {
    const reports = watch.takeReports()
    const orders = yield* persistently(
      "beating",
      Effect.suspend(() =>
        Effect.timeout(
          service.beat({ payload: { session: id, running: [...held.ids], reports } }),
          answerWithinMs
        )
      )
    )
    watch.watch(orders.watch)
    watchNow.ring()
    watching = orders.watching
    for (const runId of orders.cancel) calls.cancel(runId)
  })

  const pauseAfter = yield* makePause
  const pauseAfterSession = yield* makePause

  const claimOnce = Effect.fnUntraced(function* (session: Session) {
    const { id, waitSeconds } = session
    const wanted = held.wanted(nowMs())
    if (wanted === 0) return yield* freed.wait
    if (held.size > 0 && wanted < settings.slots / 2) yield* Effect.sleep(gatherSlotsMs)
    const asked = held.wanted(nowMs())
    if (asked === 0) return
    // Runs that would wait here for a slot are taken only if they are due by now.
    const wait_seconds = asked > held.free ? 0 : waitSeconds
    const askedAtMs = nowMs()
    held.ask(askedAtMs)
    const { beat = false, calls: given } = yield* persistently(
      "asking for runs",
      Effect.suspend(() =>
        Effect.timeout(
          service.claim({
            query: {
              session: id,
              slots: asked,
              wait_seconds,
              ...(gotNothing && held.size === 0 && { idle: true }),
              ...(watching !== "" && { watching })
            }
          }),
          wait_seconds * 1_000 + answerWithinMs
        )
      )
    )
    gotNothing = given.length === 0
    const taken = held.take(given, asked, nowMs())
    calls.beginAll()
    yield* pauseAfter(taken > 0 || nowMs() - askedAtMs > atOnceMs)
    // The next claim is to say what is watched now.
    if (beat) yield* askForOrders(session)
    if (beat || (given.length > 0 && isSilent)) beatNow.ring()
    if (isSilent) yield* tell
  })

  const handIn = Effect.fnUntraced(function* ({ id }: Session) {
    const endings = held.takeEndings()
    if (endings.length === 0) return
    const { receipts } = yield* persistently(
      "handing in results",
      Effect.suspend(() =>
        Effect.timeout(
          service.results({
            payload: { session: id, results: endings.map((one) => resultOf(one, nowMs())) }
          }),
          answerWithinMs
        )
      )
    ).pipe(Effect.onError(() => Effect.sync(() => held.keep(endings))))
    held.release(endings)
    freed.ring()
    const fenced = receipts.filter(({ receipt }) => receipt === "fenced")
    if (fenced.length > 0) {
      yield* Effect.logWarning(
        `${counted(fenced.length, "result")} came too late: others have the runs now`
      )
    }
  })

  const handInSoon = Effect.fnUntraced(function* (session: Session) {
    if (!held.hasEndings) yield* ended.wait
    yield* Effect.sleep(gatherMs)
    yield* handIn(session)
  })

  /** Runs beside it, so that many results need not wait for the answer about those before them. */
  const handInMany = Effect.fnUntraced(function* (session: Session) {
    if (!held.hasManyEndings) yield* manyEnded.wait
    yield* handIn(session)
  })

  const handingIn = (session: Session) =>
    Effect.raceFirst(Effect.forever(handInSoon(session)), Effect.forever(handInMany(session)))

  const beatOnce = Effect.fnUntraced(function* (session: Session) {
    calls.giveBack(nowMs() - waitAtMostMs)
    yield* askForOrders(session)
    yield* tell
    isSilent = held.size === 0
    yield* Effect.raceFirst(isSilent ? Effect.never : Effect.sleep(session.beatMs), beatNow.wait)
  })

  const lookOnce = Effect.gen(function* () {
    const restMs = watch.restMs(nowMs())
    yield* Effect.raceFirst(
      restMs === Infinity ? Effect.never : Effect.sleep(restMs),
      watchNow.wait
    )
    if (yield* look(watch, nowMs())) beatNow.ring()
  })

  /** Beats do not wait for what is looked at, which may hang. */
  const beating = (session: Session) =>
    Effect.raceFirst(Effect.forever(beatOnce(session)), Effect.forever(lookOnce))

  const abandon = Effect.sync(() => {
    for (const cutOff of held.clear()) cutOff()
  })

  /** Lets calls end and hands in their results, as far as that goes in time. */
  const drain = Effect.fnUntraced(function* (session: Session) {
    calls.giveBack(Infinity)
    yield* Effect.logInfo(`stopping: ${counted(held.running, "call is", "calls are")} under way`)
    const emptied = Effect.whileLoop({
      while: () => held.size > 0 || held.hasEndings,
      body: () => Effect.sleep(20),
      step: () => {}
    })
    yield* Effect.raceFirst(
      Effect.timeout(emptied, Duration.seconds(settings.drainSeconds)),
      handingIn(session)
    ).pipe(Effect.raceFirst(beating(session)), Effect.ignore)
    const left = held.ids
    if (left.length > 0)
      yield* Effect.logWarning(`${counted(left.length, "run goes", "runs go")} to other workers`)
    yield* service
      .beat({ payload: { session: session.id, running: [...left], leaving: true } })
      .pipe(Effect.timeout("5 seconds"), Effect.ignore)
    yield* abandon
  })

  const work = Effect.fnUntraced(function* (session: Session) {
    const claiming = Effect.raceFirst(Effect.forever(claimOnce(session)), stopped)
    yield* Effect.raceFirst(claiming, Effect.raceFirst(handingIn(session), beating(session)))
    yield* drain(session)
  })

  const sessions = Effect.gen(function* () {
    for (;;) {
      yield* tell
      const welcome = yield* sayHello
      if (welcome === undefined) return yield* Effect.logInfo("stopping before it was online")
      worker = welcome.name
      online = true
      yield* Effect.logInfo(
        `worker "${welcome.name}" is online with ${counted(settings.slots, "slot")} for ${namesOf(welcome.labels)}`
      )
      const missing = missingLabels(settings.labels, welcome.labels)
      if (missing !== undefined) yield* Effect.logWarning(missing)
      yield* tell
      const session: Session = {
        id: welcome.session,
        waitSeconds: welcome.wait_seconds,
        beatMs: welcome.beat_seconds * 1_000
      }
      const begunAtMs = nowMs()
      const exit = yield* Effect.exit(work(session))
      online = false
      if (Exit.isSuccess(exit)) return
      const refusal = refusalIn(exit)
      if (!(refusal instanceof SessionEnded) || refusal.reason === "replaced") {
        return yield* Exit.asVoid(exit)
      }
      yield* Effect.logWarning(refusal.message)
      yield* abandon
      yield* Effect.raceFirst(pauseAfterSession(nowMs() - begunAtMs > shortSessionMs), stopped)
    }
  })

  yield* sessions.pipe(
    Effect.ensuring(abandon),
    Effect.catch((refusal: Refusal) => Effect.fail(endedBy(refusal))),
    Effect.ensuring(tell)
  )
})
