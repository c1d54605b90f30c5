import { useState } from "react"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { signInErrorMessage } from "./signInErrorMessage.ts"

/** Takes the user to the identity provider. */
export const ProviderButton = ({
  name,
  next,
  problem: shown
}: {
  readonly name: string
  readonly next: string | undefined
  /** The error code, if the provider sent the user back because of a problem. */
  readonly problem: string | undefined
}) => {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState(shown)
  const [error, setError] = useState<unknown>(null)
  const start = async () => {
    setIsBusy(true)
    setError(null)
    try {
      const started = await session.signInAtProvider(next)
      if ("url" in started) return location.assign(started.url)
      setProblem(started.problem)
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <div className="flex flex-col gap-3">
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {signInErrorMessage(problem, name)}
        </p>
      )}
      <Problem error={error} />
      <Button busy={isBusy} onClick={() => void start()}>
        Continue with {name}
      </Button>
    </div>
  )
}
