rem cmd
@echo off
rem Joins this server to a Kubernetes cluster. Run it at each start: on a healthy node it changes nothing.
rem
rem   cloudbase-init   user data as it stands (the first line names its kind); set RESTART=cloudbase-init
rem   GCE              metadata key windows-startup-script-cmd, as it stands
rem   EC2              user data, between the script tags, with persist true
rem   Azure            Custom Script Extension: cmd /c join.cmd
rem
rem Fill in the two lines below, or put them into C:\Program Files\winjoin-start\settings.cmd. The token comes from
rem the file C:\Program Files\winjoin-start\token, which an image or a secret store writes; on GCE also from the metadata
rem key winjoin-token. What happens is written beside it: result.json, progress-N.ndjson, and the Application log.
rem
rem Only administrators write below C:\Program Files, so that no other user can have made this folder or what is in it.
rem Programs are called by their whole path: cmd looks in the current folder first.
setlocal
set "ENDPOINT=10.0.0.10:6443"
set "PIN=sha256:HASH"
set "ARGUMENTS="
set "RESTART=shutdown"
set "PROGRAM=C:\Program Files\winjoin\winjoin.exe"
set "FOLDER=C:\Program Files\winjoin-start"
set "SYSTEM=%SystemRoot%\System32"

if not exist "%FOLDER%" mkdir "%FOLDER%"
rem Only SYSTEM and Administrators may read the token.
"%SYSTEM%\icacls.exe" "%FOLDER%" /inheritance:r /grant "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F" >nul
if exist "%FOLDER%\settings.cmd" call "%FOLDER%\settings.cmd"
rem A metadata server is asked on its own cloud alone, by its address: elsewhere anybody may answer there.
set "MAKER="
for /f "tokens=2,*" %%A in ('%SYSTEM%\reg.exe query HKLM\HARDWARE\DESCRIPTION\System\BIOS /v SystemManufacturer 2^>nul') do if "%%A"=="REG_SZ" set "MAKER=%%B"
if "%MAKER%"=="Google" if not exist "%FOLDER%\token" "%SYSTEM%\curl.exe" -fs -m 5 -H "Metadata-Flavor: Google" -o "%FOLDER%\token" http://169.254.169.254/computeMetadata/v1/instance/attributes/winjoin-token

rem A name of its own: a program of the last start may still have the last file open.
del "%FOLDER%\progress-*.ndjson" >nul 2>&1
"%PROGRAM%" join %ENDPOINT% --token-file "%FOLDER%\token" --discovery-token-ca-cert-hash %PIN% --install-features --on-failure rollback --join-timeout 30m --progress json -o json --output-file "%FOLDER%\result.json" %ARGUMENTS% 2>>"%FOLDER%\progress-%RANDOM%.ndjson"
set "CODE=%ERRORLEVEL%"

rem 6: a Windows feature was installed; after the restart this script goes on.
if not "%CODE%"=="6" exit /b %CODE%
if "%RESTART%"=="cloudbase-init" exit /b 1003
"%SYSTEM%\shutdown.exe" /r /t 5
exit /b 6
