import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

type Answer = ServerResponse<IncomingMessage>

/** A request as Node emits it. */
export interface RequestEvent {
  readonly event: "request" | "checkContinue"
  readonly request: IncomingMessage
  readonly answer: Answer
}

/**
 * The limits of waiting pipelined requests, per connection and in total. Each request takes about 3
 * kB.
 */
const maxWaiting = 250
const maxWaitingInAll = 10_000

/**
 * Handles one request per connection at a time. A client may send further requests before it has
 * the response to the previous request. They start after that response is sent, so a connection
 * never has more than one response in memory. Node has already read the requests that arrived in
 * one packet; later requests are not read until then.
 */
export class SerialRequests {
  readonly #lines = new WeakMap<Duplex, Line>()
  readonly #begin: (turn: RequestEvent) => void
  readonly #all = { waiting: 0 }

  /** `begin` is called for each request that had to wait, when it is its turn. */
  constructor(begin: (turn: RequestEvent) => void) {
    this.#begin = begin
  }

  /** Returns true if the request can start immediately. */
  take(event: RequestEvent["event"], request: IncomingMessage, answer: Answer): boolean {
    const { socket } = request
    let line = this.#lines.get(socket)
    if (line === undefined) {
      line = new Line(socket, this.#begin, this.#all)
      this.#lines.set(socket, line)
    }
    return line.take(event, request, answer)
  }

  /**
   * Calls `act` once all complete requests have their responses, because an error about the next
   * request must not replace the response to the previous one. A request that is still incomplete
   * is passed as `unfinished`.
   */
  whenGiven(socket: Duplex, act: (unfinished: Answer | undefined) => void): void {
    const line = this.#lines.get(socket)
    if (line === undefined) act(undefined)
    else line.whenGiven(act)
  }
}

/** Ignores the errors of a socket, because the responses report them too. */
const ignoreError = () => {}

class Line {
  #current: Answer | undefined
  readonly #waiting: Array<RequestEvent> = []
  /**
   * True if too many requests were pipelined. The connection closes after the last accepted one.
   */
  #isCut = false
  /** Called once all responses are sent. No input is parsed as HTTP before that. */
  #afterwards: ((unfinished: Answer | undefined) => void) | undefined
  readonly #socket: Duplex
  readonly #begin: (turn: RequestEvent) => void
  readonly #all: { waiting: number }

  constructor(socket: Duplex, begin: (turn: RequestEvent) => void, all: { waiting: number }) {
    this.#socket = socket
    this.#begin = begin
    this.#all = all
  }

  whenGiven(act: (unfinished: Answer | undefined) => void): void {
    this.#socket.on("error", ignoreError)
    this.#afterwards = act
    this.#finish()
  }

  take(event: RequestEvent["event"], request: IncomingMessage, answer: Answer): boolean {
    if (this.#current === undefined) {
      this.#start(answer)
      return true
    }
    this.#isCut ||= this.#waiting.length >= maxWaiting || this.#all.waiting >= maxWaitingInAll
    if (this.#isCut) return false
    if (this.#waiting.length === 0) {
      this.#socket.once("close", this.#leave)
      // Node resumes reading after each whole request, so the pause must come after that.
      process.nextTick(this.#readIfIdle)
    }
    this.#waiting.push({ event, request, answer })
    this.#all.waiting++
    return false
  }

  #start(answer: Answer): void {
    this.#current = answer
    answer.once("close", this.#next)
  }

  readonly #next = () => {
    this.#current = undefined
    const turn = this.#waiting.shift()
    if (turn !== undefined) this.#go(turn)
    else if (this.#isCut) this.#socket.end()
    if (this.#afterwards !== undefined) this.#finish()
  }

  #go(turn: RequestEvent): void {
    this.#all.waiting--
    if (this.#socket.destroyed) return this.#leave()
    if (this.#waiting.length === 0) {
      this.#socket.off("close", this.#leave)
      if (this.#isCut) turn.answer.shouldKeepAlive = false
    }
    this.#readIfIdle()
    this.#start(turn.answer)
    this.#begin(turn)
  }

  #finish(): void {
    if (this.#waiting.length > 0 || this.#current?.req.complete === true) return
    const act = this.#afterwards
    this.#afterwards = undefined
    this.#socket.off("error", ignoreError)
    act?.(this.#current)
  }

  readonly #readIfIdle = () => {
    if (this.#afterwards !== undefined) return
    if (this.#waiting.length > 0 || this.#isCut) this.#socket.pause()
    else this.#socket.resume()
  }

  readonly #leave = () => {
    this.#all.waiting -= this.#waiting.length
    this.#waiting.length = 0
  }
}
