import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ResponseParser } from "../../src/exchange/ResponseParser.ts"

interface Read {
  readonly status: number | null
  readonly retryAfter: string | null
  readonly body: string
  readonly end: "over" | "unfinished" | "InvalidResponse" | "HeadTooLarge" | "ResponseTruncated"
  readonly isReusable: boolean
  readonly keepAliveSeconds: number | null
}

const read = (pieces: ReadonlyArray<Buffer>, method = "POST", hangsUp = false): Read => {
  let status: number | null = null
  let retryAfter: string | null = null
  let body = ""
  const parser = new ResponseParser(method, {
    onHead: (head, headers) => {
      status = head
      retryAfter = headers.retryAfter
    },
    onBody: (bytes) => (body += bytes.toString("latin1"))
  })
  let end: Read["end"] = "unfinished"
  try {
    // A socket reuses its buffer for every read.
    const buffer = Buffer.alloc(Math.max(0, ...pieces.map(({ length }) => length)))
    for (const piece of pieces) parser.push(buffer.subarray(0, piece.copy(buffer)))
    if (hangsUp) parser.finish()
    if (parser.isFinished) end = "over"
  } catch (error) {
    end = (error as { readonly _tag: Read["end"] })._tag
  }
  const { isReusable, keepAliveSeconds } = parser
  return { status, retryAfter, body, end, isReusable, keepAliveSeconds }
}

const readText = (text: string, method?: string, hangsUp?: boolean) =>
  read([Buffer.from(text, "latin1")], method, hangsUp)

const ok = "HTTP/1.1 200 OK\r\n"
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
const chunkedWithLength = `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`

describe("a response ends", () => {
  it.each([
    ["after its length", `${ok}content-length: 3\r\n\r\nabc`, "abc"],
    ["with its head, without a body", `${ok}content-length: 0\r\n\r\n`, ""],
    ["with its head at 204", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["with its head at 304", "HTTP/1.1 304\r\ncontent-length: 3\r\n\r\n", ""],
    ["with its last chunk", `${chunked}3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n`, "abc0123456789"],
    ["after its trailers", `${chunked}1;a="b"\r\nx\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n`, "x"],
    ["when it is chunked last", `${ok}transfer-encoding: gzip, Chunked\r\n\r\n0\r\n\r\n`, ""],
    [
      "after interim answers",
      `HTTP/1.1 103 Hints\r\na: b\r\n\r\n${ok}content-length: 0\r\n\r\n`,
      ""
    ],
    ["with empty lines before it", `\r\n\r\n${ok}content-length: 1\r\n\r\na`, "a"]
  ])("%s", (_, text, body) => {
    const whole = readText(text)
    assert.deepInclude(whole, { body, end: "over", isReusable: true })
    assert.isTrue(readText(text.slice(0, -1)).end === "unfinished")
  })

  it("with its head if the method was HEAD", () => {
    const head = `${ok}content-length: 3\r\n\r\n`
    assert.deepInclude(readText(head, "HEAD"), { end: "over", isReusable: true })
  })

  it.each([
    ["has no length", `${ok}\r\nabc`],
    ["is not chunked last", `${ok}transfer-encoding: chunked, gzip\r\n\r\nabc`],
    ["is of HTTP/1.0", "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n\r\nabc"]
  ])("with the connection if it %s", (_, text) => {
    assert.strictEqual(readText(text).end, "unfinished")
    assert.deepInclude(readText(text, "POST", true), {
      body: "abc",
      end: "over",
      isReusable: false
    })
  })
})

describe("a connection is not used again", () => {
  it.each([
    ["if the server closes it", `${ok}connection: close\r\ncontent-length: 0\r\n\r\n`],
    ["if the server is of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"],
    ["if more follows than was asked for", `${ok}content-length: 1\r\n\r\nab`],
    ["if a second answer follows", `${ok}content-length: 0\r\n\r\n${ok}content-length: 0\r\n\r\n`]
  ])("%s", (_, text) => {
    assert.deepInclude(readText(text), { end: "over", isReusable: false })
  })

  it("unless a server of HTTP/1.0 offers it", () => {
    const text = "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n"
    assert.deepInclude(readText(text), { end: "over", isReusable: true })
  })
})

it("has the keep-alive time and the time of a retry", () => {
  const fields = "keep-alive: max=9, timeout=7\r\nRetry-After:  120 \r\nretry-after: 9\r\n"
  assert.deepInclude(readText(`HTTP/1.1 503 Busy\r\n${fields}content-length: 0\r\n\r\n`), {
    status: 503,
    keepAliveSeconds: 7,
    retryAfter: "120"
  })
})

describe("a response is invalid", () => {
  it.each([
    ["with another protocol", "SSH-2.0-x\r\n"],
    ["with another version", "HTTP/2.0 200 OK\r\n\r\n"],
    ["with a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["with a status below 100", "HTTP/1.1 099 OK\r\n\r\n"],
    ["with a line that is no field", `${ok}nonsense\r\n\r\n`],
    ["with a space before a colon", `${ok}content-length : 3\r\n\r\nabc`],
    ["with a field that is folded", `${ok}a: b\r\n c\r\n\r\n`],
    ["with a line feed in a field", `${ok}a: b\nc: d\r\n\r\n`],
    ["with NUL in a field", `${ok}a: \0\r\n\r\n`],
    ["with two lengths", `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
    ["with one length said twice", `${ok}Content-Length: 1\r\ncontent-length:1\r\n\r\na`],
    ["with a length beside chunks", `${chunkedWithLength}0\r\n\r\n`],
    ["with a list of lengths", `${ok}content-length: 1, 1\r\n\r\n`],
    ["with a negative length", `${ok}content-length: -1\r\n\r\n`],
    ["with a length in hexadecimal", `${ok}content-length: 0x1\r\n\r\n`],
    ["with an endless length", `${ok}content-length: 9999999999999999\r\n\r\n`],
    ["with a chunk of no size", `${chunked}\r\n`],
    ["with a chunk of a negative size", `${chunked}-1\r\n`],
    ["with a chunk of an endless size", `${chunked}fffffffffffffffff\r\n`],
    ["with text beside a chunk's size", `${chunked}1x\r\n`],
    ["with a space after a chunk's size", `${chunked}1 \r\na\r\n`],
    ["with a line feed alone after a chunk's size", `${chunked}1\na\r\n`],
    ["with a line feed alone in a chunk's extension", `${chunked}1;a\na\r\n`],
    ["with a line feed alone after a chunk", `${chunked}1\r\na\n0\r\n\r\n`],
    ["with two returns after a chunk", `${chunked}1\r\na\r\r\n`],
    ["with a line feed alone in a trailer", `${chunked}0\r\na: b\n\r\n`],
    ["with a chunk that is longer than it says", `${chunked}1\r\nab\r\n`]
  ])("%s", (_, text) => {
    assert.deepInclude(readText(text), { end: "InvalidResponse" })
  })

  it("with a head over 16 KiB, finished or not", () => {
    const head = `${ok}x: ${"a".repeat(17_000)}`
    assert.strictEqual(readText(head).end, "HeadTooLarge")
    assert.strictEqual(readText(`${head}\r\n\r\n`).end, "HeadTooLarge")
  })

  it("with interim responses of more than 16 KiB together", () => {
    const interim = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
    const answer = `${ok}content-length: 0\r\n\r\n`
    assert.strictEqual(readText(interim.repeat(300) + answer).end, "over")
    assert.strictEqual(readText(interim.repeat(500) + answer).end, "HeadTooLarge")
  })
})

it.each([
  ["before it begins", ""],
  ["in its head", "HTTP/1.1 200 OK\r\ncontent-le"],
  ["in its body", `${ok}content-length: 3\r\n\r\nab`],
  ["in a chunk", `${chunked}3\r\nab`],
  ["before its last chunk", `${chunked}1\r\na\r\n`],
  ["in its trailers", `${chunked}0\r\nx: y\r\n`]
])("a connection that ends %s cuts the answer off", (_, text) => {
  assert.strictEqual(readText(text, "POST", true).end, "ResponseTruncated")
})

it("an unrequested change of protocol ends the response", () => {
  const text = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n"
  assert.strictEqual(readText(text).end, "ResponseTruncated")
})

/** Parts of valid and malformed responses. */
const piece = Schema.Literals([
  ok,
  "HTTP/1.0 404 Not Found\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 204 Empty\r\n",
  "content-length: 3\r\n",
  "transfer-encoding: chunked\r\n",
  "connection: close\r\n",
  "retry-after: 5\r\n",
  "\r\n",
  "\n",
  "\r",
  "3\r\nabc\r\n",
  "3;x=y\r\n",
  "0\r\n",
  "abc",
  ":",
  "\0",
  "é"
])

it.prop(
  "is parsed in the same way however its bytes are split",
  [
    Schema.Array(piece),
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })))
  ],
  ([texts, sizes]) => {
    const bytes = Buffer.from([ok, ...texts].join(""), "latin1")
    const pieces: Array<Buffer> = []
    for (let at = 0, index = 0; at < bytes.length; index++) {
      const end = at + (sizes[index % Math.max(sizes.length, 1)] ?? 1)
      pieces.push(bytes.subarray(at, end))
      at = end
    }
    assert.deepStrictEqual(read(pieces, "POST", true), read([bytes], "POST", true))
  },
  { arbitrary: { runs: 2_000 } }
)
