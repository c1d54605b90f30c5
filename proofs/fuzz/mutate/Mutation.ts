import type { Dice } from "../Dice.ts"
import type { RequestDraft } from "../exchange/RequestDraft.ts"
import type { World } from "../world/World.ts"

export type Mutation = (draft: RequestDraft, dice: Dice, world: World) => void

export type Texts = readonly [string, ...Array<string>]

/** Records a flaw, so that an error response is accepted. */
export const addFlaw = (draft: RequestDraft, name: string, hopeless?: "body" | "size") => {
  draft.flaws.push(name)
  if (hopeless !== undefined) draft.hopeless.add(hopeless)
}

export const setHeader = (draft: RequestDraft, name: string, ...values: ReadonlyArray<string>) => {
  draft.headers = [
    ...draft.headers.filter(([one]) => one !== name),
    ...values.map((value) => [name, value] as const)
  ]
}
