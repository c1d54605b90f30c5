import type { Dice } from "../Dice.ts"
import type { RequestDraft } from "../exchange/RequestDraft.ts"
import { bytes, json } from "./Body.ts"
import {
  authorization,
  contentType,
  addHarmlessHeaders,
  idempotencyKey,
  method,
  addOversizedHeaders
} from "./Head.ts"
import { path, query } from "./Target.ts"
import type { Mutation } from "./Mutation.ts"
import type { World } from "../world/World.ts"

/** Adds one to three flaws to the draft and records them. */
export const mutate = (draft: RequestDraft, dice: Dice, world: World): void => {
  const count = dice.pick([1, 1, 1, 2, 3])
  for (let index = 0; index < count; index++) {
    const mutation = dice.pick(mutations)
    mutation(draft, dice.fork(`mutation ${index}`), world)
  }
}

const mutations: readonly [Mutation, ...Array<Mutation>] = [
  json,
  json,
  json,
  json,
  json,
  json,
  bytes,
  bytes,
  query,
  query,
  query,
  path,
  path,
  path,
  path,
  method,
  contentType,
  authorization,
  authorization,
  addHarmlessHeaders,
  addHarmlessHeaders,
  addHarmlessHeaders,
  addHarmlessHeaders,
  idempotencyKey,
  addOversizedHeaders
]
