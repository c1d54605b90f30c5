import * as AuthErrors from "@scheduling/domain/auth/AuthErrors"
import * as BillingErrors from "@scheduling/domain/billing/BillingErrors"
import * as Errors from "@scheduling/domain/shared/Errors"
import * as Ids from "@scheduling/domain/shared/Ids"
import * as exported from "@scheduling/sdk/effect"
import { describe, expect, it } from "vitest"

const errors = Object.entries({ ...Errors, ...AuthErrors, ...BillingErrors }).filter(
  ([, one]) => "code" in one
)

const ids = Object.entries(Ids).filter(([name]) => name.endsWith("Id"))

describe("the client for Effect", () => {
  it.each(errors)("exports the error %s, which can be caught", (name, error) => {
    expect(exported).toHaveProperty(name, error)
  })

  it.each(ids)("exports the id %s", (name, id) => {
    expect(exported).toHaveProperty(name, id)
  })
})
