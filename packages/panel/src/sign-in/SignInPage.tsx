import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { AuthPage, textLinkClass } from "./AuthPage.tsx"
import { InvitationDescription, isInvitationPath, useInvitation } from "./Invitation.tsx"
import { OtherSignInMethods } from "./OtherSignInMethods.tsx"
import { PasskeyButton, supportsPasskeys } from "./PasskeyButton.tsx"
import { SignInForm } from "./SignInForm.tsx"
import { signInOptions } from "../data/signInOptions.ts"

export const SignInPage = () => {
  const { next, problem } = useSearch({ from: "/sign-in" })
  const { data: options } = useQuery(signInOptions)
  const navigate = useNavigate()
  const goOn = () => navigate({ href: next ?? "/", replace: true })
  const [asksForCode, setAsksForCode] = useState(false)
  const invitation = useInvitation()
  // Another `key` resets the form, so that the user can sign in to another account.
  const [times, setTimes] = useState(0)
  return (
    <AuthPage
      title={asksForCode ? "Enter your code" : "Sign in"}
      description={
        isInvitationPath(next) ? <InvitationDescription invitation={invitation} /> : undefined
      }
      below={
        asksForCode ? (
          <button
            type="button"
            className={textLinkClass}
            onClick={() => {
              setTimes(times + 1)
              setAsksForCode(false)
            }}
          >
            Sign in with another account
          </button>
        ) : options?.password === false ? undefined : (
          <>
            No account yet?{" "}
            <Link
              to="/register"
              search={next === undefined ? {} : { next }}
              className={textLinkClass}
            >
              Create an account
            </Link>
          </>
        )
      }
    >
      {!asksForCode && (
        <OtherSignInMethods options={options} next={next} problem={problem} onSignedIn={goOn} />
      )}
      {options?.password !== false && (
        <SignInForm
          key={times}
          asksForCode={asksForCode}
          onCode={() => setAsksForCode(true)}
          onSignedIn={goOn}
        />
      )}
      {asksForCode && options?.passkey === true && supportsPasskeys && (
        <div className="mt-5 border-t border-line pt-5">
          <PasskeyButton onSignedIn={goOn} />
        </div>
      )}
    </AuthPage>
  )
}
