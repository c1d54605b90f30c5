import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

type Answer = ServerResponse<IncomingMessage>

/** A request as Node announces it. */
export interface Turn {
  readonly event: "request" | "checkContinue"
  readonly request: IncomingMessage
  readonly answer: Answer
}

/** Limits for pipelined requests that wait, per connection and in total. Each takes about 3 kB. */
const maxWaiting = 250
const maxWaitingInAll = 10_000

/**
 * Handles one request per connection at a time. A client may send further requests before it has
 * the answer to the last. They start after that answer has left, so a connection never has more
 * than one answer in memory. Node has already read the requests that arrived in one piece; further
 * ones stay with the client.
 */
export class Turns {
  readonly #lines = new WeakMap<Duplex, Line>()
  readonly #begin: (turn: Turn) => void
  readonly #all = { waiting: 0 }

  /** `begin` is called for each request that had to wait, when its turn has come. */
  constructor(begin: (turn: Turn) => void) {
    this.#begin = begin
  }

  /** Returns true if the request can start now. */
  take(event: Turn["event"], request: IncomingMessage, answer: Answer): boolean {
    const { socket } = request
    let line = this.#lines.get(socket)
    if (line === undefined) {
      line = new Line(socket, this.#begin, this.#all)
      this.#lines.set(socket, line)
    }
    return line.take(event, request, answer)
  }

  /**
   * Calls `act` once all complete requests have their answers. A request that is still incomplete
   * is `unfinished`. An error about the next request must not replace the answer of the last one.
   */
  whenGiven(socket: Duplex, act: (unfinished: Answer | undefined) => void): void {
    const line = this.#lines.get(socket)
    if (line === undefined) act(undefined)
    else line.whenGiven(act)
  }
}

/** Handles errors of the socket, which the answers report too. */
const ignore = () => {}

class Line {
  #current: Answer | undefined
  readonly #waiting: Array<Turn> = []
  /** True if more requests came than may wait. The connection closes after the last of them. */
  #isCut = false
  /** Runs once all answers are sent. Nothing is read as HTTP before that. */
  #afterwards: ((unfinished: Answer | undefined) => void) | undefined
  readonly #socket: Duplex
  readonly #begin: (turn: Turn) => void
  readonly #all: { waiting: number }

  constructor(socket: Duplex, begin: (turn: Turn) => void, all: { waiting: number }) {
    this.#socket = socket
    this.#begin = begin
    this.#all = all
  }

  whenGiven(act: (unfinished: Answer | undefined) => void): void {
    this.#socket.on("error", ignore)
    this.#afterwards = act
    this.#finish()
  }

  take(event: Turn["event"], request: IncomingMessage, answer: Answer): boolean {
    if (this.#current === undefined) {
      this.#start(answer)
      return true
    }
    this.#isCut ||= this.#waiting.length >= maxWaiting || this.#all.waiting >= maxWaitingInAll
    if (this.#isCut) return false
    if (this.#waiting.length === 0) {
      this.#socket.once("close", this.#leave)
      // Node resumes reading when it has a whole request, so the pause must come after that.
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

  #go(turn: Turn): void {
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
    this.#socket.off("error", ignore)
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
