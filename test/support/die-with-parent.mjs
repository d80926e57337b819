// A test run that is killed would leave its child programs behind, contending for ever: they end when the pipe to it does.
process.stdin.on('end', () => process.exit(1)).resume();
process.stdin.unref();
