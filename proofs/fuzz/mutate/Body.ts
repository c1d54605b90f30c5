import type { RequestDraft } from "../exchange/RequestDraft.ts"
import { mutateJson, jsonText } from "./JsonText.ts"
import { addFlaw, type Mutation, setHeader } from "./Mutation.ts"

export const mutateJsonBody: Mutation = (draft, dice) => {
  const { how, isHopeless, value } = mutateJson(draft.payload ?? {}, dice)
  setBody(draft, Buffer.from(jsonText(value)))
  addFlaw(draft, how, isHopeless && draft.target.payload !== undefined ? "body" : undefined)
}

const setBody = (draft: RequestDraft, body: Buffer | undefined) => {
  draft.body = body
  draft.hopeless.delete("body")
  if (!draft.headers.some(([name]) => name === "content-type")) {
    setHeader(draft, "content-type", "application/json")
  }
}

export const mutateBodyBytes: Mutation = (draft, dice) => {
  const body = draft.body ?? Buffer.from("{}")
  const at = dice.below(body.length + 1)
  const [how, spoiled] = dice.pick<readonly [string, () => Buffer]>([
    ["cut off", () => body.subarray(0, at)],
    ["a bit flipped", () => flipped(body, at, dice.below(8))],
    ["no UTF-8", () => spliced(body, at, Buffer.from([0xff, 0xc0, 0x80]))],
    ["UTF-8 of a surrogate", () => spliced(body, at, Buffer.from([0xed, 0xa0, 0x80]))],
    ["a NUL inside", () => spliced(body, at, Buffer.from([0]))],
    ["a byte order mark", () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])],
    ["UTF-16", () => Buffer.from(body.toString(), "utf16le")],
    ["white space around", () => Buffer.concat([Buffer.from(" \n\t"), body, Buffer.from("\r\n")])],
    ["something after it", () => Buffer.concat([body, Buffer.from("{}")])],
    ["no bytes", () => Buffer.alloc(0)],
    ["a comment", () => Buffer.concat([Buffer.from("/* */"), body])],
    // Rare because it is expensive: the limit is 1 MiB.
    [
      "over a mebibyte",
      () => (dice.chance(0.2) ? Buffer.concat([body, Buffer.alloc(2 ** 20, " ")]) : body)
    ]
  ])
  setBody(draft, spoiled())
  addFlaw(draft, `body: ${how}`)
}

const flipped = (body: Buffer, at: number, bit: number) => {
  const copy = Buffer.from(body)
  const index = Math.min(at, copy.length - 1)
  copy[index] = (copy[index] ?? 0) ^ (1 << bit)
  return copy
}

const spliced = (body: Buffer, at: number, inserted: Buffer) =>
  Buffer.concat([body.subarray(0, at), inserted, body.subarray(at)])
