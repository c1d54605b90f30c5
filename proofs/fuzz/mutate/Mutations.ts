import type { Dice } from "../Dice.ts"
import type { RequestDraft } from "../exchange/RequestDraft.ts"
import { mutateBodyBytes, mutateJsonBody } from "./Body.ts"
import {
  mutateAuthorization,
  mutateContentType,
  addHarmlessHeaders,
  mutateIdempotencyKey,
  mutateMethod,
  addOversizedHeaders
} from "./Head.ts"
import { mutatePath, mutateQuery } from "./Target.ts"
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
  mutateJsonBody,
  mutateJsonBody,
  mutateJsonBody,
  mutateJsonBody,
  mutateJsonBody,
  mutateJsonBody,
  mutateBodyBytes,
  mutateBodyBytes,
  mutateQuery,
  mutateQuery,
  mutateQuery,
  mutatePath,
  mutatePath,
  mutatePath,
  mutatePath,
  mutateMethod,
  mutateContentType,
  mutateAuthorization,
  mutateAuthorization,
  addHarmlessHeaders,
  addHarmlessHeaders,
  addHarmlessHeaders,
  addHarmlessHeaders,
  mutateIdempotencyKey,
  addOversizedHeaders
]
