import { NodeHttpServerRequest } from "@effect/platform-node"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type Principal, principalId } from "@scheduling/domain/auth/Principal"
import { streamCommentSeconds } from "@scheduling/domain/events/Event"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { type Cause, Clock, Context, Effect, Layer, Queue, type Scope, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  allowSilence,
  waitPermitHolderOf,
  makeWaitPermits,
  Shutdown,
  type WaitingLimits
} from "../http/index.ts"
import { loop, Meters } from "../core/index.ts"
import {
  EndSignals,
  LiveChanges,
  resetChange,
  type SentChange,
  type EndWatch
} from "../events/index.ts"
import { keepAliveText, positionText, eventText, greetingText, maySeeEvent } from "./eventText.ts"

/** The limits of open streams per node, and of unread messages per client. */
export const StreamLimits = Context.Reference<WaitingLimits & { readonly unread: number }>(
  "@scheduling/server/live/StreamLimits",
  { defaultValue: () => ({ all: 1_000, each: 50, unread: 1_000 }) }
)

export interface StreamRequest {
  readonly workspaceId: AuthorizedWorkspaceId
  readonly principal: Principal["Service"]
  /** Succeeds with true if the client still has permission to read the stream. */
  readonly isAdmitted: Effect.Effect<boolean>
  /** The id or the time after which the client resumes. */
  readonly after: string | undefined
}

type Messages = Queue.Queue<string, Cause.Done>

/**
 * Streams a workspace's changes. A stream occupies a connection and at most `unread` messages. A
 * subscriber with more unread messages is disconnected, and continues where it stopped when it
 * reconnects.
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
  static readonly layer: Layer.Layer<EventStreams, never, EndSignals | Shutdown> = Layer.effect(
    EventStreams,
    Effect.gen(function* () {
      const changes = yield* LiveChanges
      const clock = yield* Clock.Clock
      const endSignals = yield* EndSignals
      const limits = yield* StreamLimits
      const stopping = yield* Shutdown
      const permits = makeWaitPermits(limits)
      const watchesOfStreams = new Set<EndWatch>()
      const announceAll = Effect.sync(() => {
        for (const { announce } of watchesOfStreams) announce()
      })
      yield* Effect.forkScoped(loop("announcing streams", Effect.delay(announceAll, announceEvery)))
      ;(yield* Meters).gauge("scheduling_event_streams", "Open event streams.", permits.count)

      /** Sends heartbeats regularly, until the client loses access to the stream. */
      const heartbeats = Effect.fnUntraced(function* (
        messages: Messages,
        { isAdmitted }: StreamRequest,
        { waker }: EndWatch
      ) {
        do {
          yield* Effect.raceFirst(waker.wait(streamCommentSeconds * 1_000), stopping.begun)
          Queue.offerUnsafe(messages, keepAliveText)
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
            if (!maySeeEvent(principal, one.change.type)) continue
            if (!Queue.offerUnsafe(messages, eventText(workspaceId, one))) return cut()
          }
        }
        const { id, missed } = yield* changes.follow(workspaceId, after, send)
        const first = missed ?? [{ id, atMs: clock.currentTimeMillisUnsafe(), change: resetChange }]
        // All missed changes are sent as one message, because they could exceed the limit of unread
        // messages. The newest id comes last, so that a subscriber that disconnects before the end
        // requests the remaining changes again.
        const visible = first.filter(({ change }) => maySeeEvent(principal, change.type))
        const texts = visible.map((one) => eventText(workspaceId, one))
        Queue.offerUnsafe(messages, texts.join("") + positionText(id))
      })

      /**
       * Wakes the stream when the member is removed from the workspace, so that the stream ends
       * immediately.
       */
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
        const isPermitted = yield* permits.take(
          waitPermitHolderOf(stream.principal, stream.workspaceId)
        )
        if (!isPermitted) {
          Queue.endUnsafe(messages)
          return messages
        }
        allowSilence(incoming, streamCommentSeconds * 1_000)
        yield* Effect.addFinalizer(() => Effect.sync(() => allowSilence(incoming, 0)))
        Queue.offerUnsafe(messages, greetingText)
        const watch = yield* watchMembership(stream)
        // The stream runs in a separate fiber, so that the client receives the greeting
        // immediately.
        yield* follow(stream, messages, () => incoming.socket.destroy()).pipe(
          Effect.andThen(heartbeats(messages, stream, watch)),
          Effect.forkScoped
        )
        return messages
      })

      return EventStreams.of({
        open: Effect.fn("EventStreams.open")(function* (stream) {
          const full = permits.reachedLimit(
            waitPermitHolderOf(stream.principal, stream.workspaceId)
          )
          if (full !== undefined) {
            return yield* new RateLimited({
              retry_after: streamCommentSeconds,
              message: tooMany[full]
            })
          }
          const request = yield* HttpServerRequest.HttpServerRequest
          const messages = Stream.unwrap(
            Effect.map(openStream(stream, request), (queue) => Stream.fromQueue(queue))
          )
          return HttpServerResponse.stream(Stream.encodeText(messages), {
            contentType: "text/event-stream",
            headers: {
              "cache-control": "no-store",
              // This header keeps proxies from buffering messages.
              "x-accel-buffering": "no",
              // A node that shuts down ends its streams and waits for their connections to close.
              connection: "close"
            }
          })
        })
      })
    })
  )
}

/**
 * The interval at which this node reports its streams to the other nodes, which would otherwise
 * forget them after a minute.
 */
const announceEvery = "45 seconds"

const tooMany = {
  node: "This node has reached its limit of event streams. Try again later.",
  account:
    "This account has reached its share of the event streams of this node. Close some, or try again later.",
  each: "This workspace, API key or user has too many open event streams on this node. Close some."
}
