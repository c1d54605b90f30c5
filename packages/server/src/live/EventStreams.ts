import { NodeHttpServerRequest } from "@effect/platform-node"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type Principal, principalId } from "@scheduling/domain/auth/Principal"
import { beatSeconds } from "@scheduling/domain/events/Event"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { type Cause, Clock, Context, Effect, Layer, Queue, type Scope, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  expectSilence,
  holderOf,
  makeWaitPermits,
  Stopping,
  type WaitingLimits
} from "../http/index.ts"
import { loop, Meters } from "../core/index.ts"
import {
  EndSignals,
  LiveChanges,
  resetChange,
  type SentChange,
  type Watch
} from "../events/index.ts"
import { heartbeatText, positionText, eventText, greetingText, maySee } from "./eventText.ts"

/** Limits of open streams per node, and of unread messages per client. */
export const StreamLimits = Context.Reference<WaitingLimits & { readonly unread: number }>(
  "@scheduling/server/live/StreamLimits",
  { defaultValue: () => ({ all: 1_000, each: 50, unread: 1_000 }) }
)

export interface StreamRequest {
  readonly workspaceId: AuthorizedWorkspaceId
  readonly principal: Principal["Service"]
  /** Succeeds with true if the client may still read the stream. */
  readonly isAdmitted: Effect.Effect<boolean>
  /** The id or the time after which the client resumes. */
  readonly after: string | undefined
}

type Messages = Queue.Queue<string, Cause.Done>

/**
 * Streams the changes of a workspace. A stream holds a connection and at most `unread` messages. A
 * subscriber that falls further behind is disconnected, and resumes when it reconnects.
 */
export class EventStreams extends Context.Service<
  EventStreams,
  {
    readonly open: (
      stream: StreamRequest
    ) => Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      RateLimited,
      HttpServerRequest.HttpServerRequest
    >
  }
>()("@scheduling/server/live/EventStreams") {
  static readonly layer: Layer.Layer<EventStreams, never, EndSignals | Stopping> = Layer.effect(
    EventStreams,
    Effect.gen(function* () {
      const changes = yield* LiveChanges
      const clock = yield* Clock.Clock
      const endSignals = yield* EndSignals
      const limits = yield* StreamLimits
      const stopping = yield* Stopping
      const permits = makeWaitPermits(limits)
      const watchesOfStreams = new Set<Watch>()
      const announceAll = Effect.sync(() => {
        for (const { announce } of watchesOfStreams) announce()
      })
      yield* Effect.forkScoped(loop("announcing streams", Effect.delay(announceAll, announceEvery)))
      ;(yield* Meters).gauge("scheduling_event_streams", "Open event streams.", permits.count)

      /** Sends a heartbeat at every interval, until the stream is no longer allowed. */
      const heartbeats = Effect.fnUntraced(function* (
        messages: Messages,
        { isAdmitted }: StreamRequest,
        { waker }: Watch
      ) {
        do {
          yield* Effect.raceFirst(waker.wait(beatSeconds * 1_000), stopping.begun)
          Queue.offerUnsafe(messages, heartbeatText)
        } while (!stopping.isStopping() && (yield* isAdmitted))
        Queue.endUnsafe(messages)
      })

      const follow = Effect.fnUntraced(function* (
        { after, principal, workspaceId }: StreamRequest,
        messages: Messages,
        cut: () => void
      ) {
        const send = (sent: ReadonlyArray<SentChange>) => {
          for (const one of sent) {
            if (!maySee(principal, one.change.type)) continue
            if (!Queue.offerUnsafe(messages, eventText(workspaceId, one))) return cut()
          }
        }
        const { id, missed } = yield* changes.follow(workspaceId, after, send)
        const first = missed ?? [{ id, atMs: clock.currentTimeMillisUnsafe(), change: resetChange }]
        // All missed changes are sent as one message, because they may exceed the limit of unread
        // messages. The newest id comes last, so that a subscriber that is disconnected in between
        // requests the remaining ones again.
        const visible = first.filter(({ change }) => maySee(principal, change.type))
        const texts = visible.map((one) => eventText(workspaceId, one))
        Queue.offerUnsafe(messages, texts.join("") + positionText(id))
      })

      /** Wakes the stream when the member is removed, so that the stream ends immediately. */
      const watchMembership = Effect.fnUntraced(function* (stream: StreamRequest) {
        const watch = yield* endSignals.watch([principalId(stream.principal)])
        watch.announce()
        watchesOfStreams.add(watch)
        yield* Effect.addFinalizer(() => Effect.sync(() => watchesOfStreams.delete(watch)))
        return watch
      })

      const openStream = Effect.fnUntraced(function* (
        stream: StreamRequest,
        request: HttpServerRequest.HttpServerRequest
      ): Effect.fn.Return<Messages, never, Scope.Scope> {
        const messages: Messages = yield* Queue.dropping<string, Cause.Done>(limits.unread)
        const incoming = NodeHttpServerRequest.toIncomingMessage(request)
        const isPermitted = yield* permits.take(holderOf(stream.principal, stream.workspaceId))
        if (!isPermitted) {
          Queue.endUnsafe(messages)
          return messages
        }
        expectSilence(incoming, beatSeconds * 1_000)
        yield* Effect.addFinalizer(() => Effect.sync(() => expectSilence(incoming, 0)))
        Queue.offerUnsafe(messages, greetingText)
        const watch = yield* watchMembership(stream)
        // Forked, so that the client gets the greeting immediately.
        yield* follow(stream, messages, () => incoming.socket.destroy()).pipe(
          Effect.andThen(heartbeats(messages, stream, watch)),
          Effect.forkScoped
        )
        return messages
      })

      return EventStreams.of({
        open: Effect.fn("EventStreams.open")(function* (stream) {
          const full = permits.reachedLimit(holderOf(stream.principal, stream.workspaceId))
          if (full !== undefined) {
            return yield* new RateLimited({ retry_after: beatSeconds, message: tooMany[full] })
          }
          const request = yield* HttpServerRequest.HttpServerRequest
          const messages = Stream.unwrap(
            Effect.map(openStream(stream, request), (queue) => Stream.fromQueue(queue))
          )
          return HttpServerResponse.stream(Stream.encodeText(messages), {
            contentType: "text/event-stream",
            headers: {
              "cache-control": "no-store",
              // Proxies must not buffer messages.
              "x-accel-buffering": "no",
              // A stopping node ends its streams and waits until their connections are closed.
              connection: "close"
            }
          })
        })
      })
    })
  )
}

/** Streams are announced again at this interval, because other nodes forget them after a minute. */
const announceEvery = "45 seconds"

const tooMany = {
  node: "This node has reached its limit of event streams. Try again later.",
  account:
    "This account has reached its share of the event streams of this node. Close some, or try again later.",
  each: "This workspace, API key or user has too many open event streams on this node. Close some."
}
