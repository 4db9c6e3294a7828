@echo off
rem Asks this Windows Server what winjoin's tests can only model: check.cmd [--adapter ALIAS] [--join WORDS...]
rem Start it in an elevated prompt. It takes back what it makes and writes report.html beside itself.
"%~dp0acceptance.exe" %*
exit /b %ERRORLEVEL%
