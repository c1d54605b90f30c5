import { InvalidCodeError, InvalidCredentialsError } from "@scheduling/sdk"
import { FieldProblem } from "../ui/forms/issues.ts"

/** Says at its field that a password or a code is wrong. Who is signed in has a known email. */
export const atItsField = (error: unknown): never => {
  if (error instanceof InvalidCredentialsError) {
    throw new FieldProblem("current_password", "The password is wrong.")
  }
  if (error instanceof InvalidCodeError) throw new FieldProblem("code", error.message)
  throw error
}
